#include "client/engines/http2.h"

#include "client/load/request_file.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As large as the protocol has it, so that a server never waits for the client. */
enum { WINDOW = INT32_MAX, PROBLEM_ROOM = 128 };

/* :method, :scheme, :path, :authority */
enum { AUTHORITY = 3, PSEUDO_FIELDS };

struct http2_request {
    nghttp2_nv *fields;
    size_t count;
    char *names; /* in lower case, as HTTP/2 wants them */
    struct slice body;
    bool is_grpc, is_chunked;
};

struct http2 {
    nghttp2_session *session;
    struct http2_events events;
    struct http2_stream *streams;
    uint32_t count;
    bool is_leaving, has_begun, is_invalid;
    char problem[PROBLEM_ROOM];
};

/* nghttp2 only reads them, but does not say so. */
static uint8_t *bytes_of(struct slice slice) {
    union {
        const char *bytes;
        uint8_t *known;
    } both = {.bytes = slice.bytes};
    return both.known;
}

static nghttp2_nv field_of(struct slice name, struct slice value) {
    return (nghttp2_nv){bytes_of(name), bytes_of(value), name.length, value.length,
                        NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

static struct slice slice_of(const char *word) {
    return (struct slice){word, strlen(word)};
}

/* What concerns only a connection of HTTP/1.1. */
static bool is_left_out(struct slice name) {
    static const char *const NAMES[] = {
        "connection", "host", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (slice_equals(name, NAMES[i]))
            return true;
    return false;
}

static size_t lines_of(struct slice head) {
    size_t lines = 0;
    for (struct slice line; slice_cut(&head, '\n', &line);)
        lines++;
    return lines;
}

/* Adds the header lines of the head behind its first one. */
static void add_headers(struct http2_request *request, struct slice head) {
    struct slice line, name;
    char *lower = request->names;
    while (slice_cut(&head, '\n', &line) && slice_drop_last(&line, '\r') && line.length > 0) {
        if (!slice_cut(&line, ':', &name))
            continue;
        for (size_t i = 0; i < name.length; i++)
            lower[i] = slice_to_lower(name.bytes[i]);
        name.bytes = lower;
        lower += name.length;
        line = slice_trim(line);
        if (slice_equals(name, "host"))
            request->fields[AUTHORITY] = field_of(slice_of(":authority"), line);
        if (slice_equals(name, "transfer-encoding"))
            request->is_chunked = true;
        if (slice_equals(name, "content-type"))
            request->is_grpc = slice_starts_any_case(line, "application/grpc");
        if (!is_left_out(name))
            request->fields[request->count++] = field_of(name, line);
    }
}

/* Returns 0 or -ENOMEM. */
static int build(struct http2_request *request, const struct text *form, bool is_tls) {
    struct slice text = {form->bytes, form->length};
    struct slice head = {text.bytes, request_head_read(text).length}, line, method;
    request->fields = calloc(PSEUDO_FIELDS + lines_of(head), sizeof *request->fields);
    request->names = malloc(head.length);
    if (request->fields == NULL || request->names == NULL)
        return -ENOMEM;
    request->body = slice_after(text, head.length);
    line = slice_next(&head, '\n');
    method = slice_next(&line, ' ');
    request->fields[0] = field_of(slice_of(":method"), method);
    request->fields[1] =
        field_of(slice_of(":scheme"), is_tls ? slice_of("https") : slice_of("http"));
    request->fields[2] = field_of(slice_of(":path"), slice_next(&line, ' '));
    request->count = PSEUDO_FIELDS;
    add_headers(request, head);
    return 0;
}

void http2_requests_release(struct http2_request *list, uint32_t count) {
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        free(list[i].fields);
        free(list[i].names);
    }
    free(list);
}

struct http2_request *http2_requests_build(const struct requests *requests, bool is_tls,
                                           const char **problem) {
    struct http2_request *list = calloc(requests->count, sizeof *list);
    *problem = "not enough memory for the requests of HTTP/2";
    for (uint32_t i = 0; list != NULL && i < requests->count; i++)
        if (build(&list[i], &requests->each[i].forms[0][0], is_tls) != 0 || list[i].is_chunked) {
            if (list[i].is_chunked)
                *problem = "HTTP/2 has no Transfer-Encoding; leave it out, and the chunks";
            http2_requests_release(list, requests->count);
            return NULL;
        }
    return list;
}

const struct http2_request *http2_requests_at(const struct http2_request *list, ptrdiff_t number) {
    return &list[number];
}

size_t http2_body_length(const struct http2_request *request) {
    return request->body.length;
}

/* The end of a stream for the client, whether or not it is one for the server. */
static void end(struct http2 *http2, struct http2_stream *stream, enum verdict verdict,
                const char *why, bool is_untouched) {
    nghttp2_session_set_stream_user_data(http2->session, stream->id, NULL);
    stream->id = 0;
    http2->events.ended(http2->events.owner, stream, verdict, why, is_untouched);
}

void http2_cancel(struct http2 *http2, struct http2_stream *stream) {
    if (stream->id == 0)
        return;
    nghttp2_session_set_stream_user_data(http2->session, stream->id, NULL);
    nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
    stream->id = 0;
}

/* The client has seen enough of a reply that is not right. */
static void give_up(struct http2 *http2, struct http2_stream *stream, enum verdict verdict) {
    nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
    end(http2, stream, verdict, NULL, false);
}

static void give_up_malformed(struct http2 *http2, struct http2_stream *stream,
                              const char *problem) {
    stream->reply->problem = problem;
    give_up(http2, stream, REPLY_MALFORMED);
}

/* grpc-status, or after it grpc-message: the text of a refusal. */
static void take_grpc(struct http2_stream *stream, struct slice name, struct slice value) {
    struct reply *reply = stream->reply;
    const bool is_status = slice_equals(name, "grpc-status");
    if (is_status) {
        stream->has_grpc_status = true;
        stream->is_grpc_failure = !slice_equals(value, "0");
        reply->line_length = 0;
    } else if (!slice_equals(name, "grpc-message") || !stream->is_grpc_failure) {
        return;
    }
    struct text line = text_fixed(reply->line, sizeof reply->line);
    line.length = reply->line_length;
    text_add_string(&line, is_status ? "grpc-status " : ": ");
    text_add_some(&line, value.bytes, value.length);
    reply->line_length = line.length;
}

static int on_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                    size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
                    void *owner) {
    struct http2_stream *stream =
        nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags;
    if (stream == NULL)
        return 0;
    const struct slice field = {(const char *)name, name_length};
    const struct slice content = {(const char *)value, value_length};
    stream->head_bytes += (uint32_t)(name_length + value_length);
    if (stream->head_bytes > REPLY_HEAD_LIMIT)
        give_up_malformed(owner, stream, "the head is too long");
    else if (slice_equals(field, ":status") && value_length == 3)
        stream->status =
            (uint16_t)((value[0] - '0') * 100 + (value[1] - '0') * 10 + value[2] - '0');
    else if (stream->request->is_grpc)
        take_grpc(stream, field, content);
    return 0;
}

/* A gRPC server may say at once, and without a body, that the call failed. */
static void take_head(struct http2 *http2, struct http2_stream *stream) {
    const enum verdict verdict = reply_take_head(stream->reply, stream->status);
    stream->status = 0;
    http2->events.began(http2->events.owner, stream);
    if (verdict != REPLY_INCOMPLETE && stream->id != 0)
        give_up(http2, stream, verdict);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *owner) {
    struct http2 *http2 = owner;
    struct http2_stream *stream =
        nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    http2->is_leaving |= frame->hd.type == NGHTTP2_GOAWAY;
    if (stream == NULL)
        return 0;
    const bool is_head = frame->hd.type == NGHTTP2_HEADERS;
    if ((is_head || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
        stream->is_ended = true;
    if (is_head && stream->status != 0) /* else trailers */
        take_head(http2, stream);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                   size_t length, void *owner) {
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    (void)flags;
    if (stream == NULL)
        return 0;
    const enum verdict verdict = reply_feed(stream->reply, (const char *)bytes, length);
    if (verdict != REPLY_INCOMPLETE)
        give_up(owner, stream, verdict);
    return 0;
}

/* The verdict on a reply of which all is here. */
static enum verdict judge(const struct http2_stream *stream) {
    if (stream->request->is_grpc && !stream->has_grpc_status) {
        stream->reply->problem = "no grpc-status";
        return REPLY_MALFORMED;
    }
    return stream->is_grpc_failure ? REPLY_REFUSED : reply_end(stream->reply);
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *owner) {
    struct http2 *http2 = owner;
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (stream == NULL)
        return 0;
    if (stream->is_ended && error == NGHTTP2_NO_ERROR) {
        end(http2, stream, judge(stream), NULL, false);
        return 0;
    }
    char why[PROBLEM_ROOM];
    snprintf(why, sizeof why, "the server ended the stream: %s", nghttp2_http2_strerror(error));
    end(http2, stream, REPLY_INCOMPLETE, why, error == NGHTTP2_REFUSED_STREAM);
    return 0;
}

/* A request that the session would not send, as the server is leaving. */
static int on_not_sent(nghttp2_session *session, const nghttp2_frame *frame, int error,
                       void *owner) {
    struct http2 *http2 = owner;
    (void)session;
    for (uint32_t i = 0; frame->hd.type == NGHTTP2_HEADERS && i < http2->count; i++)
        if (http2->streams[i].id == frame->hd.stream_id && frame->hd.stream_id != 0)
            end(http2, &http2->streams[i], REPLY_INCOMPLETE, nghttp2_strerror(error), true);
    return 0;
}

static int on_invalid(nghttp2_session *session, const nghttp2_frame *frame, int error,
                      void *owner) {
    struct http2 *http2 = owner;
    (void)session, (void)frame;
    http2->is_invalid = true;
    snprintf(http2->problem, sizeof http2->problem, "HTTP/2: %s", nghttp2_strerror(error));
    return 0;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *bytes, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *owner) {
    struct http2_stream *stream = source->ptr;
    (void)session, (void)id, (void)owner;
    const struct slice rest = slice_after(stream->request->body, stream->sent);
    const size_t length = rest.length < room ? rest.length : room;
    memcpy(bytes, rest.bytes, length);
    stream->sent += (uint32_t)length;
    if (length == rest.length)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)length;
}

int http2_submit(struct http2 *http2, struct http2_stream *stream) {
    const struct http2_request *request = stream->request;
    const nghttp2_data_provider body = {.source.ptr = stream, .read_callback = read_body};
    if (http2->is_leaving)
        return -EAGAIN;
    *stream = (struct http2_stream){.request = request, .reply = stream->reply};
    const int32_t id = nghttp2_submit_request(http2->session, NULL, request->fields, request->count,
                                              request->body.length > 0 ? &body : NULL, stream);
    http2->is_leaving |= id < 0; /* its numbers are used up */
    stream->id = id < 0 ? 0 : id;
    return id < 0 ? -EAGAIN : 0;
}

/* Returns the session, or NULL without memory. */
static nghttp2_session *new_session(struct http2 *http2) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_session *session = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return NULL;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_field);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_not_sent);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid);
    const int outcome = nghttp2_session_client_new(&session, callbacks, http2);
    nghttp2_session_callbacks_del(callbacks);
    return outcome == 0 ? session : NULL;
}

struct http2 *http2_open(const struct http2_events *events, struct http2_stream *streams,
                         uint32_t count) {
    static const nghttp2_settings_entry SETTINGS[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW},
    };
    struct http2 *http2 = calloc(1, sizeof *http2);
    if (http2 == NULL)
        return NULL;
    *http2 = (struct http2){.events = *events, .streams = streams, .count = count};
    http2->session = new_session(http2);
    if (http2->session != NULL &&
        nghttp2_submit_settings(http2->session, NGHTTP2_FLAG_NONE, SETTINGS,
                                sizeof SETTINGS / sizeof *SETTINGS) == 0 &&
        nghttp2_session_set_local_window_size(http2->session, NGHTTP2_FLAG_NONE, 0, WINDOW) == 0)
        return http2;
    http2_close(http2);
    return NULL;
}

void http2_close(struct http2 *http2) {
    if (http2 != NULL)
        nghttp2_session_del(http2->session);
    free(http2);
}

static int broken(struct http2 *http2, const char *why) {
    if (!http2->is_invalid)
        snprintf(http2->problem, sizeof http2->problem, "HTTP/2: %s", why);
    return -EPROTO;
}

int http2_feed(struct http2 *http2, const char *bytes, size_t length) {
    if (!http2->has_begun && length >= 5 && memcmp(bytes, "HTTP/", 5) == 0)
        return broken(http2, "the server answers in HTTP/1.1");
    http2->has_begun = true;
    const ssize_t taken = nghttp2_session_mem_recv(http2->session, (const uint8_t *)bytes, length);
    if (taken < 0)
        return broken(http2, nghttp2_strerror((int)taken));
    return 0;
}

struct slice http2_output(struct http2 *http2) {
    const uint8_t *bytes;
    const ssize_t length = nghttp2_session_mem_send(http2->session, &bytes);
    return (struct slice){(const char *)bytes, length > 0 ? (size_t)length : 0};
}

bool http2_is_broken(struct http2 *http2) {
    if (nghttp2_session_want_read(http2->session) != 0 || (http2->is_leaving && !http2->is_invalid))
        return false;
    broken(http2, "what the server sent breaks the protocol");
    return true;
}

bool http2_is_leaving(const struct http2 *http2) {
    return http2->is_leaving;
}

const char *http2_problem(const struct http2 *http2) {
    return http2->problem;
}
