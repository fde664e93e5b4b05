/* TLS 1.2 and 1.3 of a client, by OpenSSL over memory: bytes in, bytes out, no system call. */
#pragma once
#include "base/slice.h"
#include "client/load/load.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls_setting; /* of all connections, whatever their thread */
struct tls;         /* of one connection */

struct tls_wish {
    const char *host;   /* whom the certificate must name; an address is sent no server name */
    const char *cafile; /* who may have signed it; NULL: whom the system trusts */
    bool is_insecure;   /* any certificate passes */
    bool is_http2;      /* ALPN asks for h2, and the server must choose it */
};

/* A session that the next connection of a thread may resume. */
struct tls_ticket {
    void *session; /* NULL: none */
};

/* Returns 0, or -errno and *problem. */
int tls_setting_open(struct tls_setting **opened, const struct tls_wish *wish,
                     const char **problem);
void tls_setting_close(struct tls_setting *setting); /* NULL is allowed */

/* Begins a connection with the handshake's first bytes. ticket: NULL: every handshake is a full
 * one; outlives the connection. Returns NULL without memory. */
struct tls *tls_open(struct tls_setting *setting, struct tls_ticket *ticket);
void tls_close(struct tls *tls); /* NULL is allowed */
void tls_ticket_release(struct tls_ticket *ticket);

/* Says that nothing more will be sent. */
void tls_end(struct tls *tls);

/* Takes what arrived. Returns 0 or -ENOMEM. */
int tls_feed(struct tls *tls, const char *bytes, size_t length);

/* Goes on with the handshake. Returns 0 when it is over, -EAGAIN: more must arrive, or -EPROTO and
 * tls_problem. */
int tls_shake(struct tls *tls);

/* Returns how many bytes of the content were written to `bytes`; 0: the server has ended it;
 * -EAGAIN: more must arrive; -EPROTO: see tls_problem. */
ptrdiff_t tls_read(struct tls *tls, char *bytes, size_t room);

/* Encrypts all of it. Returns 0 or -EPROTO. */
int tls_write(struct tls *tls, const char *bytes, size_t length);

/* What is to be sent; the first `length` bytes of it were. */
struct slice tls_output(const struct tls *tls);
void tls_sent(struct tls *tls, size_t length);

/* Whether the handshake resumed a session. */
bool tls_is_resumed(const struct tls *tls);

/* "TLSv1.3 TLS_AES_256_GCM_SHA384"; "" before the handshake is over. */
void tls_name(const struct tls *tls, char name[TLS_NAME_LIMIT]);

/* A few words on the last failure. */
const char *tls_problem(const struct tls *tls);
