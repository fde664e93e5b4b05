#include "client/engines/websocket.h"

#include "client/load/request_file.h"
#include "client/reply/reply.h"

#include <dlfcn.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

static const char LIBRARY[] = "libwslay.so.1";
static const char DEFAULT_MESSAGE[] = "hello";
/* Behind the key, its digest is the proof that the server speaks WebSocket. */
static const char GUID[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
static const char ACCEPT[] = "sec-websocket-accept:";

enum {
    NONCE_LENGTH = 16,
    KEY_LENGTH = 24,          /* of the nonce, in base64 */
    ACCEPT_LENGTH = 28,       /* of the digest, in base64 */
    FRAMES_LIMIT = 64 * 1024, /* more is framed when this has been taken */
    CONTROL_LIMIT = 125,      /* bytes of a ping or close */
    PROBLEM_ROOM = 128,
};

/* What is used of the library, each by its name behind wslay_event_. */
#define FUNCTIONS(USE)                                                                             \
    USE(context_client_init)                                                                       \
    USE(context_free)                                                                              \
    USE(config_set_max_recv_msg_length)                                                            \
    USE(queue_msg)                                                                                 \
    USE(queue_close)                                                                               \
    USE(recv)                                                                                      \
    USE(send)                                                                                      \
    USE(set_error)                                                                                 \
    USE(get_queued_msg_count)                                                                      \
    USE(get_read_enabled)                                                                          \
    USE(get_close_received)

struct library {
#define DECLARE(name) __typeof__ (&wslay_event_##name)(name);
    FUNCTIONS(DECLARE)
#undef DECLARE
};

struct websocket_setting {
    void *handle;
    struct library library;
    struct slice target, headers; /* of the opening handshake */
    struct slice message;
    bool is_text;
};

struct websocket {
    const struct websocket_setting *setting;
    const struct library *library;
    wslay_event_context_ptr context;
    uint64_t random;    /* of the masks */
    struct text head;   /* of the answer to the handshake */
    struct text output; /* the handshake, then frames */
    struct slice input; /* what wslay has not read */
    struct text *content;
    bool is_open, is_sending, is_taken; /* the output has been taken */
    enum websocket_found found;
    char key[KEY_LENGTH + 1];
    char problem[PROBLEM_ROOM];
};

static bool is_utf8(struct slice text) {
    size_t sequence;
    while (text.length > 0 && (sequence = utf8_sequence(text.bytes, text.length)) > 0)
        text = slice_after(text, sequence);
    return text.length == 0;
}

/* Returns whether all of it is there. */
static bool load_library(struct websocket_setting *setting) {
    bool has_all = (setting->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)) != NULL;
#define LOAD(name)                                                                                 \
    if (has_all) {                                                                                 \
        void *found = dlsym(setting->handle, "wslay_event_" #name);                                \
        has_all = found != NULL;                                                                   \
        memcpy(&setting->library.name, &found, sizeof found);                                      \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    return has_all;
}

int websocket_setting_open(struct websocket_setting **opened, const struct text *form,
                           const char **problem) {
    struct websocket_setting *setting = calloc(1, sizeof *setting);
    *problem = "not enough memory for WebSocket";
    if (setting == NULL)
        return -ENOMEM;
    *opened = setting;
    *problem = "WebSocket needs libwslay.so.1 (Debian: libwslay1)";
    if (!load_library(setting))
        return -ENOSYS;
    struct slice text = {form->bytes, form->length};
    struct slice head = {text.bytes, request_head_read(text).length};
    setting->message = slice_after(text, head.length);
    if (setting->message.length == 0)
        setting->message = (struct slice){DEFAULT_MESSAGE, sizeof DEFAULT_MESSAGE - 1};
    setting->is_text = is_utf8(setting->message);
    slice_next(&head, ' ');
    setting->target = slice_next(&head, ' ');
    slice_next(&head, '\n');
    setting->headers = (struct slice){head.bytes, head.length - 2}; /* without the empty line */
    return 0;
}

void websocket_setting_close(struct websocket_setting *setting) {
    if (setting != NULL && setting->handle != NULL)
        dlclose(setting->handle);
    free(setting);
}

/* wslay's callbacks */

static ssize_t read_input(wslay_event_context_ptr context, uint8_t *bytes, size_t room, int flags,
                          void *owner) {
    struct websocket *websocket = owner;
    const size_t length = websocket->input.length < room ? websocket->input.length : room;
    (void)flags;
    if (length == 0) {
        websocket->library->set_error(context, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(bytes, websocket->input.bytes, length);
    websocket->input = slice_after(websocket->input, length);
    return (ssize_t)length;
}

static ssize_t write_output(wslay_event_context_ptr context, const uint8_t *bytes, size_t length,
                            int flags, void *owner) {
    struct websocket *websocket = owner;
    const size_t room = FRAMES_LIMIT - websocket->output.length;
    (void)flags;
    if (room == 0) {
        websocket->library->set_error(context, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    text_add(&websocket->output, bytes, length < room ? length : room);
    return (ssize_t)(length < room ? length : room);
}

/* Masks keep proxies from misreading what a browser sends; here any will do (xorshift). */
static int make_mask(wslay_event_context_ptr context, uint8_t *bytes, size_t length, void *owner) {
    struct websocket *websocket = owner;
    (void)context;
    websocket->random ^= websocket->random << 13;
    websocket->random ^= websocket->random >> 7;
    websocket->random ^= websocket->random << 17;
    memcpy(bytes, &websocket->random, length < sizeof websocket->random ? length : 8);
    return 0;
}

static void find(struct websocket *websocket, enum websocket_found found, const char *problem) {
    if (found > websocket->found)
        websocket->found = found;
    if (found == WEBSOCKET_BROKEN) {
        struct text said = text_fixed(websocket->problem, PROBLEM_ROOM - 1);
        text_add_string(&said, "WebSocket: ");
        text_add_some(&said, problem, strlen(problem));
        websocket->problem[said.length] = '\0';
    }
}

static void take_message(wslay_event_context_ptr context,
                         const struct wslay_event_on_msg_recv_arg *message, void *owner) {
    struct websocket *websocket = owner;
    const struct slice sent = websocket->setting->message;
    (void)context;
    if (message->opcode != WSLAY_TEXT_FRAME && message->opcode != WSLAY_BINARY_FRAME)
        return;
    if (message->msg_length != sent.length || memcmp(message->msg, sent.bytes, sent.length) != 0)
        find(websocket, WEBSOCKET_BROKEN, "what came back is not the message that was sent");
    else if (websocket->found == WEBSOCKET_ECHO)
        find(websocket, WEBSOCKET_BROKEN, "more messages came back than were sent");
    else
        find(websocket, WEBSOCKET_ECHO, NULL);
    if (websocket->content != NULL)
        text_add_some(websocket->content, message->msg, message->msg_length);
}

/* A connection */

/* Appends the opening handshake. Returns 0 or -errno. */
static int shake(struct websocket *websocket) {
    const struct websocket_setting *setting = websocket->setting;
    unsigned char nonce[NONCE_LENGTH];
    if (RAND_bytes(nonce, sizeof nonce) != 1)
        return -EIO;
    EVP_EncodeBlock((unsigned char *)websocket->key, nonce, sizeof nonce);
    memcpy(&websocket->random, nonce, sizeof websocket->random);
    websocket->random |= 1; /* 0 would stay 0 */
    struct text *output = &websocket->output;
    text_add_string(output, "GET ");
    text_add(output, setting->target.bytes, setting->target.length);
    text_add_string(output, " HTTP/1.1\r\n");
    struct slice rest = setting->headers, line;
    while (slice_cut(&rest, '\n', &line))
        if (!slice_starts_any_case(line, "content-length:"))
            text_add(output, line.bytes, line.length + 1);
    text_addf(output,
              "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
              "Sec-WebSocket-Key: %s\r\n\r\n",
              websocket->key);
    return output->overflow ? -ENOMEM : 0;
}

struct websocket *websocket_open(const struct websocket_setting *setting) {
    static const struct wslay_event_callbacks CALLBACKS = {
        .recv_callback = read_input,
        .send_callback = write_output,
        .genmask_callback = make_mask,
        .on_msg_recv_callback = take_message,
    };
    struct websocket *websocket = calloc(1, sizeof *websocket);
    if (websocket == NULL)
        return NULL;
    *websocket = (struct websocket){.setting = setting,
                                    .library = &setting->library,
                                    .head = text_growing(REPLY_HEAD_LIMIT),
                                    .output = text_growing(FRAMES_LIMIT)};
    const struct library *library = websocket->library;
    if (library->context_client_init(&websocket->context, &CALLBACKS, websocket) == 0 &&
        shake(websocket) == 0) {
        /* What is longer than the message is not the message; but a ping may be. */
        const size_t length = setting->message.length;
        library->config_set_max_recv_msg_length(websocket->context,
                                                length > CONTROL_LIMIT ? length : CONTROL_LIMIT);
        return websocket;
    }
    websocket_close(websocket);
    return NULL;
}

void websocket_close(struct websocket *websocket) {
    if (websocket == NULL)
        return;
    if (websocket->context != NULL)
        websocket->library->context_free(websocket->context);
    text_release(&websocket->head);
    text_release(&websocket->output);
    free(websocket);
}

void websocket_send(struct websocket *websocket) {
    const struct websocket_setting *setting = websocket->setting;
    websocket->is_sending = true;
    const struct wslay_event_msg message = {
        .opcode = setting->is_text ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME,
        .msg = (const uint8_t *)setting->message.bytes,
        .msg_length = setting->message.length,
    };
    if (websocket->library->queue_msg(websocket->context, &message) != 0)
        find(websocket, WEBSOCKET_BROKEN, "the message cannot be sent");
}

void websocket_end(struct websocket *websocket) {
    websocket->library->queue_close(websocket->context, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0);
}

/* Whether this is the answer to the key that was sent. */
static bool is_accepted(const struct websocket *websocket, struct slice accept) {
    char proof[KEY_LENGTH + sizeof GUID];
    unsigned char digest[EVP_MAX_MD_SIZE], wanted[ACCEPT_LENGTH + 1];
    unsigned length;
    snprintf(proof, sizeof proof, "%s%s", websocket->key, GUID);
    if (EVP_Digest(proof, sizeof proof - 1, digest, &length, EVP_sha1(), NULL) != 1)
        return false;
    EVP_EncodeBlock(wanted, digest, (int)length);
    return slice_equals(accept, (const char *)wanted);
}

/* Reads the head of the server's answer. */
static void take_head(struct websocket *websocket, struct slice head) {
    struct slice line = slice_next(&head, '\n'), status = line;
    bool is_right = false;
    slice_drop_last(&line, '\r');
    slice_next(&status, ' ');
    if (!slice_equals(slice_next(&status, ' '), "101")) {
        char shown[PROBLEM_ROOM];
        struct text said = text_fixed(shown, sizeof shown - 32);
        text_add_escaped(&said, line.bytes, line.length < 64 ? line.length : 64);
        snprintf(shown + said.length, sizeof shown - said.length, " instead of 101");
        find(websocket, WEBSOCKET_BROKEN, shown);
        return;
    }
    while (slice_cut(&head, '\n', &line)) {
        slice_drop_last(&line, '\r');
        if (slice_starts_any_case(line, ACCEPT))
            is_right |= is_accepted(websocket, slice_trim(slice_after(line, sizeof ACCEPT - 1)));
    }
    if (is_right)
        find(websocket, WEBSOCKET_OPENED, NULL);
    else
        find(websocket, WEBSOCKET_BROKEN, "the server's Sec-WebSocket-Accept is not right");
    websocket->is_open = is_right;
}

/* Takes bytes up to the end of the head. Returns how many. */
static size_t feed_head(struct websocket *websocket, const char *bytes, size_t length) {
    struct text *head = &websocket->head;
    size_t taken = 0;
    while (taken < length && !websocket->is_open && websocket->found != WEBSOCKET_BROKEN) {
        text_add(head, &bytes[taken++], 1);
        if (head->overflow)
            find(websocket, WEBSOCKET_BROKEN, "the head is too long");
        else if (head->length >= 4 && memcmp(head->bytes + head->length - 4, "\r\n\r\n", 4) == 0)
            take_head(websocket, (struct slice){head->bytes, head->length - 2});
    }
    return taken;
}

enum websocket_found websocket_feed(struct websocket *websocket, const char *bytes, size_t length,
                                    struct text *content) {
    const size_t taken = websocket->is_open ? 0 : feed_head(websocket, bytes, length);
    const struct library *library = websocket->library;
    websocket->content = content;
    if (websocket->is_open && taken < length) {
        websocket->input = (struct slice){bytes + taken, length - taken};
        if (library->recv(websocket->context) != 0)
            find(websocket, WEBSOCKET_BROKEN, "no memory for the message");
        else if (!library->get_read_enabled(websocket->context) && !websocket_is_ended(websocket))
            find(websocket, WEBSOCKET_BROKEN, "what the server sent breaks the protocol");
    }
    const enum websocket_found found = websocket->found;
    websocket->found = WEBSOCKET_NOTHING;
    return found;
}

bool websocket_is_sending(const struct websocket *websocket) {
    return websocket->is_sending;
}

bool websocket_is_ended(const struct websocket *websocket) {
    return websocket->library->get_close_received(websocket->context) != 0;
}

struct slice websocket_output(struct websocket *websocket) {
    struct text *output = &websocket->output;
    if (websocket->is_taken || output->length == 0) {
        output->length = 0;
        websocket->library->send(websocket->context);
        websocket->is_sending &= websocket->library->get_queued_msg_count(websocket->context) > 0;
    }
    websocket->is_taken = true;
    return (struct slice){output->bytes, output->length};
}

const char *websocket_problem(const struct websocket *websocket) {
    return websocket->problem;
}
