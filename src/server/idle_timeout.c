#include "server/idle_timeout.h"

#include "base/hot.h"
#include "exchange/exchange.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

int idle_timeout_set(int fd, const struct options *options) {
    int64_t idle_ms = options->idle_timeout_ms;
    const struct timeval timeout = {.tv_sec = idle_ms / 1000, .tv_usec = idle_ms % 1000 * 1000};
    /* The kernel keeps an idle client about as long as a design would. */
    const int silent_s = options->defers_accept ? (int)((idle_ms + 999) / 1000) : 0;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silent_s, sizeof silent_s) != 0)
        return -errno;
    return 0;
}

HOT bool idle_request_is_late(const struct exchange *exchange, const struct options *options,
                              int64_t *begun_ns) {
    if (!exchange_is_partial(exchange)) {
        *begun_ns = 0;
        return false;
    }
    int64_t now_ns = clock_monotonic_ns();
    if (*begun_ns == 0)
        *begun_ns = now_ns;
    return now_ns > idle_deadline_ns(options, *begun_ns);
}

HOT bool idle_reply_is_late(const struct exchange *exchange, const struct options *options,
                            int64_t now_ns, int64_t *begun_ns) {
    if (exchange_output(exchange).length == 0) {
        *begun_ns = 0;
        return false;
    }
    if (*begun_ns == 0)
        *begun_ns = now_ns;
    /* What was sent of them counts too: more may have been answered since. */
    int64_t taking_ns = (int64_t)exchange->output.length * NS_PER_S / TAKEN_LEAST;
    return now_ns > idle_deadline_ns(options, *begun_ns) + taking_ns;
}

int idle_left_ms(const struct options *options, int64_t active_ns, int64_t now_ns) {
    int64_t left_ns = idle_deadline_ns(options, active_ns) - now_ns;
    /* Rounded up: waking early would only make it wait again. */
    return left_ns <= 0 ? 0 : (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS);
}
