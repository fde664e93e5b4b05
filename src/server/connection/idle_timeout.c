#include "server/connection/idle_timeout.h"

#include "base/hot.h"
#include "service/exchange/exchange.h"

#include <sys/socket.h>

bool idle_input_waits(int fd) {
    char next;
    return recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
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
    /* Bytes already sent count too, as more replies may have been added since. */
    int64_t taking_ns = (int64_t)exchange->output.length * NS_PER_S / TAKEN_LEAST;
    return now_ns > idle_deadline_ns(options, *begun_ns) + taking_ns;
}

int idle_left_ms(int64_t deadline_ns, int64_t now_ns) {
    int64_t left_ns = deadline_ns - now_ns;
    /* Rounded up: waking early would mean waiting again. */
    return left_ns <= 0 ? 0 : (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS);
}
