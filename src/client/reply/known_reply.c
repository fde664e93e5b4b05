#include "client/reply/known_reply.h"

#include <string.h>

static bool is_known(const struct known_reply *known, const void *question, const char *bytes,
                     size_t length) {
    return known->question == question && known->length == length &&
           memcmp(known->bytes, bytes, length) == 0;
}

static void learn(struct known_reply *known, const void *question, const struct reply *reply,
                  const char *bytes, size_t length) {
    known->question = question;
    known->length = (uint32_t)length;
    known->status = reply->status;
    known->head = reply->head;
    known->rows = reply->rows;
    memcpy(known->bytes, bytes, length);
}

enum verdict known_reply_feed(struct known_reply *known, const void *question, struct reply *reply,
                              const char *bytes, size_t length) {
    bool must_read = reply->is_digested || reply->has_events || reply->body_text != NULL;
    if (!must_read && is_known(known, question, bytes, length)) {
        reply->status = known->status;
        reply->head = known->head;
        reply->rows = known->rows;
        return REPLY_COMPLETE;
    }
    enum verdict verdict = reply_feed(reply, bytes, length);
    if (verdict == REPLY_COMPLETE && length <= sizeof known->bytes)
        learn(known, question, reply, bytes, length);
    return verdict;
}
