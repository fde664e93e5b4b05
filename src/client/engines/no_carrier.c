/* Replaces the carrier in a build without OpenSSL, nghttp2 or wslay. */
#include "client/engines/carrier.h"

#include <errno.h>

const char *carriage_missing(void) {
    return "this build has no OpenSSL, nghttp2 or wslay (Debian: libssl-dev libnghttp2-dev "
           "libwslay-dev)";
}

int carriage_open(struct load *load) {
    load->problem = carriage_missing();
    return -ENOSYS;
}

void carriage_close(struct load *load) {
    (void)load;
}

int carriers_open(struct epoll_engine *e) {
    (void)e;
    return -ENOSYS;
}

void carriers_hang_up(struct epoll_engine *e) {
    (void)e;
}

void carriers_close(struct epoll_engine *e) {
    (void)e;
}

int carrier_connect(struct epoll_engine *e, struct epoll_connection *c) {
    (void)e, (void)c;
    return -ENOSYS;
}

void carrier_start(struct epoll_engine *e, struct epoll_connection *c) {
    (void)e, (void)c;
}

void carrier_leave(struct epoll_connection *c) {
    (void)c;
}

void carrier_handle(struct epoll_engine *e, struct epoll_connection *c, uint32_t events) {
    (void)e, (void)c, (void)events;
}

size_t carrier_unsent(const struct epoll_engine *e, const struct epoll_connection *c) {
    (void)e, (void)c;
    return 0;
}
