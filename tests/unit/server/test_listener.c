#include "unit.h"

#include "server/design.h"
#include "server/listener.h"
#include "server/options.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int listening_socket(void) {
    const struct sockaddr_in any_port = {.sin_family = AF_INET,
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&any_port, sizeof any_port), 0);
    assert_int_equal(listen(fd, 16), 0);
    return fd;
}

static int connect_to(const struct address *address) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address->storage, address->length), 0);
    return fd;
}

/* Else each worker would accept as many as waited when it noticed the stop: also those who came
 * later. */
TEST(workers_with_one_given_socket_count_its_last_clients_once) {
    const struct design design = {.shares_port = true};
    struct options options = {
        .design = &design, .idle_timeout_ms = 1000, .workers = 3, .backlog = 16};
    struct listener first, *others;
    assert_int_equal(listener_adopt(&first, &options, listening_socket()), 0);
    assert_int_equal(listeners_open_others(&others, &first, &options), 0);
    int early = connect_to(&options.listen), earlier = connect_to(&options.listen);
    listener_begin_draining(&others[0]);
    int late = connect_to(&options.listen);
    listener_begin_draining(&first);
    listener_begin_draining(&others[1]);
    atomic_fetch_sub(&first.last_clients->left, 2);
    assert_false(listener_has_last_clients(&first));
    assert_false(listener_has_last_clients(&others[0]));
    assert_false(listener_has_last_clients(&others[1]));
    close(early);
    close(earlier);
    close(late);
    listener_close(&others[0]);
    listener_close(&others[1]);
    listener_close(&first);
    free(others);
}

/* Else each worker would count a failed accept when the listening has ended. */
TEST(listening_ends_although_a_worker_took_a_last_client_without_counting_it) {
    const struct design design = {0};
    struct options options = {.design = &design, .idle_timeout_ms = 1000, .backlog = 16};
    struct listener listener;
    assert_int_equal(listener_adopt(&listener, &options, listening_socket()), 0);
    int client = connect_to(&options.listen);
    assert_false(listener_has_ended(&listener));
    listener_begin_draining(&listener);
    assert_false(listener_has_ended(&listener));
    int taken = accept(listener.fd, NULL, NULL);
    assert_true(taken >= 0);
    assert_true(listener_has_ended(&listener));
    close(taken);
    close(client);
    listener_close(&listener);
}
