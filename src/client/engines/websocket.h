/* WebSocket (RFC 6455) of a client that sends a message and wants it back, by wslay: bytes in,
 * messages and bytes out, no system call. The library is loaded when it is needed: there is no
 * static one, and the client is copied to other hosts. */
#pragma once
#include "base/slice.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct websocket_setting; /* of all connections, whatever their thread */
struct websocket;         /* of one connection */

/* form: an HTTP/1.1 request, which outlives the setting: its path and headers are those of the
 * opening handshake, its body is the message; without one it is `hello`. Returns 0, or -errno and
 * *problem. */
int websocket_setting_open(struct websocket_setting **opened, const struct text *form,
                           const char **problem);
void websocket_setting_close(struct websocket_setting *setting); /* NULL is allowed */

/* Begins a connection with the opening handshake. Returns NULL without memory. */
struct websocket *websocket_open(const struct websocket_setting *setting);
void websocket_close(struct websocket *websocket); /* NULL is allowed */

/* Sends the message; says that nothing more will be sent. */
void websocket_send(struct websocket *websocket);
void websocket_end(struct websocket *websocket);

enum websocket_found {
    WEBSOCKET_NOTHING,
    WEBSOCKET_OPENED, /* the opening handshake is over */
    WEBSOCKET_ECHO,   /* the message is back */
    WEBSOCKET_BROKEN, /* the connection must end, and websocket_problem says why */
};

/* Takes what arrived. The message is appended to `content` unless that is NULL. */
enum websocket_found websocket_feed(struct websocket *websocket, const char *bytes, size_t length,
                                    struct text *content);

/* Whether the message is still to be framed. */
bool websocket_is_sending(const struct websocket *websocket);

/* The server has ended the connection. */
bool websocket_is_ended(const struct websocket *websocket);

/* The next bytes to send, until the next call; empty: none. */
struct slice websocket_output(struct websocket *websocket);

/* A few words on why the connection must end. */
const char *websocket_problem(const struct websocket *websocket);
