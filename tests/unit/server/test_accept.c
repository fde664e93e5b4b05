#include "unit.h"

#include "base/limits.h"
#include "server/connection/accept.h"
#include "server/server.h"
#include "service/procfs/scan_cache.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

static int accept_error;

/* In place of libc's: the kernel runs out of memory for nobody who asks it to. */
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved
int accept4(int fd, __SOCKADDR_ARG address, socklen_t *restrict length, int flags) {
    (void)fd;
    (void)address;
    (void)length;
    (void)flags;
    errno = accept_error;
    return -1;
}

static struct service *open_service(void) {
    const struct service_options options = {.work = {.kind = WORK_SCAN}, .source = SOURCE_PROCFS};
    struct service *service;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < SCAN_CACHE_FLOOR * 4) /* else scans keep none */
        limit.rlim_cur = SCAN_CACHE_FLOOR * 4;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(service_open(&service, &options), 0);
    return service;
}

static void scan(struct service *service) {
    const struct request top = {.kind = REQUEST_TOP, .status = STATUS_OK, .rows = 1};
    struct text body = text_growing(REPLY_LIMIT);
    assert_int_equal(service_answer(service, &top, &body), STATUS_OK);
    text_release(&body);
}

static bool scans_keep_some(void) {
    return fcntl(SCAN_CACHE_FLOOR, F_GETFD) >= 0;
}

TEST(what_scans_keep_is_given_up_for_want_of_descriptors_but_not_of_memory) {
    static const struct {
        int error;
        bool gives_up;
    } failures[] = {{ENOMEM, false}, {ENOBUFS, false}, {EMFILE, true}, {ENFILE, true}};
    const struct sockaddr_in any_port = {.sin_family = AF_INET,
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct design design = {.name = "none"};
    struct options options = {.design = &design, .idle_timeout_ms = 1000, .backlog = 16};
    struct server server = {.options = &options, .stats = stats_create(1)};
    *(struct sockaddr_in *)(void *)&options.listen.storage = any_port;
    options.listen.length = sizeof any_port;
    assert_int_equal(listener_open(&server.listener, &options), 0);
    listener_set_nonblocking(&server.listener);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        server.service = open_service();
        scan(server.service);
        assert_true(scans_keep_some());
        accept_error = failures[i].error;
        assert_int_equal(listener_accept(&server), -EAGAIN);
        assert_int_equal(scans_keep_some(), !failures[i].gives_up);
        service_close(server.service);
    }
    assert_int_equal(server.stats->errors[ERROR_ACCEPT], 2);
    listener_close(&server.listener);
    stats_destroy(server.stats);
}
