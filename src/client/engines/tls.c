#include "client/engines/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROBLEM_ROOM = 128 };

struct tls_setting {
    SSL_CTX *context;
    const char *host;
    bool is_address, is_insecure, is_http2;
};

struct tls {
    SSL *ssl;
    const struct tls_setting *setting;
    BIO *in, *out; /* of ssl */
    size_t sent;   /* bytes of `out` */
    char problem[PROBLEM_ROOM];
};

/* A session is offered once: TLS 1.3 servers send a new ticket on each connection. */
static int keep_session(SSL *ssl, SSL_SESSION *session) {
    struct tls_ticket *ticket = SSL_get_app_data(ssl);
    if (ticket == NULL)
        return 0;
    SSL_SESSION_free(ticket->session);
    ticket->session = session;
    return 1;
}

void tls_ticket_release(struct tls_ticket *ticket) {
    SSL_SESSION_free(ticket->session);
    ticket->session = NULL;
}

static bool is_address(const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* Returns NULL, or what is wrong. */
static const char *set_up(struct tls_setting *setting, const struct tls_wish *wish) {
    static const unsigned char H2[] = "\x02h2", HTTP_1_1[] = "\x08http/1.1";
    SSL_CTX *context = setting->context;
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    /* Without its end: both lists have one name. */
    if (SSL_CTX_set_alpn_protos(context, wish->is_http2 ? H2 : HTTP_1_1,
                                (unsigned)(wish->is_http2 ? sizeof H2 : sizeof HTTP_1_1) - 1) != 0)
        return "no memory for TLS";
    if (wish->is_insecure)
        return NULL;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (wish->cafile == NULL)
        SSL_CTX_set_default_verify_paths(context);
    else if (SSL_CTX_load_verify_file(context, wish->cafile) != 1)
        return "has no certificate in PEM form";
    return NULL;
}

int tls_setting_open(struct tls_setting **opened, const struct tls_wish *wish,
                     const char **problem) {
    struct tls_setting *setting = calloc(1, sizeof *setting);
    *problem = "no memory for TLS";
    if (setting == NULL)
        return -ENOMEM;
    *setting = (struct tls_setting){.context = SSL_CTX_new(TLS_client_method()),
                                    .host = wish->host,
                                    .is_address = is_address(wish->host),
                                    .is_insecure = wish->is_insecure,
                                    .is_http2 = wish->is_http2};
    if (setting->context != NULL)
        *problem = set_up(setting, wish);
    if (*problem == NULL) {
        *opened = setting;
        return 0;
    }
    tls_setting_close(setting);
    return -EINVAL;
}

void tls_setting_close(struct tls_setting *setting) {
    if (setting != NULL)
        SSL_CTX_free(setting->context);
    free(setting);
}

/* Whom the server must be. */
static bool expect_host(SSL *ssl, const struct tls_setting *setting) {
    if (setting->is_address)
        return setting->is_insecure ||
               X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), setting->host) == 1;
    return SSL_set_tlsext_host_name(ssl, setting->host) == 1 &&
           (setting->is_insecure || SSL_set1_host(ssl, setting->host) == 1);
}

struct tls *tls_open(struct tls_setting *setting, struct tls_ticket *ticket) {
    struct tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL)
        return NULL;
    tls->setting = setting;
    tls->ssl = SSL_new(setting->context);
    tls->in = BIO_new(BIO_s_mem());
    tls->out = BIO_new(BIO_s_mem());
    if (tls->ssl == NULL || tls->in == NULL || tls->out == NULL) {
        BIO_free(tls->in);
        BIO_free(tls->out);
        SSL_free(tls->ssl);
        free(tls);
        return NULL;
    }
    SSL_set_bio(tls->ssl, tls->in, tls->out);
    SSL_set_connect_state(tls->ssl);
    SSL_set_app_data(tls->ssl, ticket);
    bool is_set = expect_host(tls->ssl, setting);
    if (ticket != NULL && ticket->session != NULL) {
        is_set = is_set && SSL_set_session(tls->ssl, ticket->session) == 1;
        tls_ticket_release(ticket);
    }
    if (is_set && tls_shake(tls) == -EAGAIN)
        return tls;
    tls_close(tls);
    return NULL;
}

void tls_close(struct tls *tls) {
    if (tls != NULL)
        SSL_free(tls->ssl); /* and with it both BIOs */
    free(tls);
}

void tls_end(struct tls *tls) {
    if (SSL_is_init_finished(tls->ssl))
        SSL_shutdown(tls->ssl);
    ERR_clear_error();
}

int tls_feed(struct tls *tls, const char *bytes, size_t length) {
    return BIO_write(tls->in, bytes, (int)length) == (int)length ? 0 : -ENOMEM;
}

/* Why a call of OpenSSL returned `outcome`, which is no success. */
static int failed(struct tls *tls, int outcome) {
    const int kind = SSL_get_error(tls->ssl, outcome);
    if (kind == SSL_ERROR_WANT_READ)
        return -EAGAIN;
    if (kind == SSL_ERROR_ZERO_RETURN)
        return 0;
    const unsigned long error = ERR_get_error();
    const long verified = SSL_get_verify_result(tls->ssl);
    const char *reason = ERR_reason_error_string(error);
    if (verified != X509_V_OK && !tls->setting->is_insecure)
        snprintf(tls->problem, sizeof tls->problem, "the server's certificate: %s",
                 X509_verify_cert_error_string(verified));
    else if (ERR_GET_REASON(error) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL)
        snprintf(tls->problem, sizeof tls->problem, "ALPN: the server does not speak %s",
                 tls->setting->is_http2 ? "HTTP/2" : "HTTP/1.1");
    else if (ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER)
        snprintf(tls->problem, sizeof tls->problem, "TLS: the server's answer is not TLS");
    else
        snprintf(tls->problem, sizeof tls->problem, "TLS: %s",
                 reason != NULL ? reason : "the server broke the connection");
    ERR_clear_error();
    return -EPROTO;
}

/* HTTP/1.1 needs no ALPN; a server of HTTP/2 must choose it. */
static bool is_agreed(const struct tls *tls) {
    const unsigned char *chosen;
    unsigned length;
    SSL_get0_alpn_selected(tls->ssl, &chosen, &length);
    return !tls->setting->is_http2 || (length == 2 && memcmp(chosen, "h2", 2) == 0);
}

int tls_shake(struct tls *tls) {
    const int outcome = SSL_do_handshake(tls->ssl);
    if (outcome != 1) {
        const int error = failed(tls, outcome);
        if (error == 0)
            snprintf(tls->problem, sizeof tls->problem, "TLS: the server ended the handshake");
        return error == 0 ? -EPROTO : error;
    }
    if (is_agreed(tls))
        return 0;
    snprintf(tls->problem, sizeof tls->problem, "ALPN: the server does not speak HTTP/2");
    return -EPROTO;
}

ptrdiff_t tls_read(struct tls *tls, char *bytes, size_t room) {
    const int length = SSL_read(tls->ssl, bytes, (int)room);
    return length > 0 ? length : failed(tls, length);
}

int tls_write(struct tls *tls, const char *bytes, size_t length) {
    while (length > 0) {
        size_t written;
        if (SSL_write_ex(tls->ssl, bytes, length, &written) != 1) {
            failed(tls, -1);
            return -EPROTO;
        }
        bytes += written;
        length -= written;
    }
    return 0;
}

struct slice tls_output(const struct tls *tls) {
    char *bytes;
    const long length = BIO_get_mem_data(tls->out, &bytes);
    return slice_after((struct slice){bytes, (size_t)length}, tls->sent);
}

void tls_sent(struct tls *tls, size_t length) {
    tls->sent += length;
    if (tls_output(tls).length > 0)
        return;
    BIO_reset(tls->out);
    tls->sent = 0;
}

bool tls_is_resumed(const struct tls *tls) {
    return SSL_session_reused(tls->ssl) == 1;
}

void tls_name(const struct tls *tls, char name[TLS_NAME_LIMIT]) {
    snprintf(name, TLS_NAME_LIMIT, "%s %s", SSL_get_version(tls->ssl), SSL_get_cipher(tls->ssl));
}

const char *tls_problem(const struct tls *tls) {
    return tls->problem;
}
