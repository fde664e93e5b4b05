#include "server/workers/fd_channel.h"

#include "base/backoff.h"
#include "server/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union ancillary {
    struct cmsghdr header; /* for its alignment */
    char space[CMSG_SPACE(sizeof(int))];
};

int channel_open(int *socket, struct inbox *inbox) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    *inbox = (struct inbox){.socket = ends[1], .drain = fcntl(ends[1], F_DUPFD_CLOEXEC, 0)};
    if (inbox->drain < 0) {
        int error = -errno;
        close(ends[0]);
        close(ends[1]);
        return error;
    }
    *socket = ends[0];
    return 0;
}

int channel_pass(int socket, int fd) {
    char byte = 0;
    union ancillary ancillary = {.space = {0}};
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.space,
                             .msg_controllen = sizeof ancillary.space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static bool is_hung_up(int error) {
    return error == EPIPE || error == ECONNRESET || error == ENOTCONN;
}

int channel_read_report(int socket) {
    char byte;
    ssize_t got = recv(socket, &byte, 1, MSG_DONTWAIT);
    return got > 0 ? 1 : got == 0 || is_hung_up(errno) ? -EPIPE : 0;
}

/* Leaves the message in the socket: if no descriptor is free, the client would be lost with it. */
static int peek_fd(int socket) {
    char byte;
    int fd = -EMFILE;
    union ancillary ancillary;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.space,
                             .msg_controllen = sizeof ancillary.space};
    ssize_t got = recvmsg(socket, &message, MSG_PEEK | MSG_CMSG_CLOEXEC);
    if (got <= 0)
        return got == 0 ? -EPIPE : -errno;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

/* Removes the message whose descriptor has been taken. */
static void remove_message(const struct inbox *inbox) {
    char byte;
    while (recv(inbox->drain, &byte, 1, 0) < 0)
        back_off();
}

/* If only this child is stopped, it takes what has already arrived, and the parent passes the rest
 * to others. If the whole server stops, the parent still passes the backlog and then closes its
 * end. */
static void notice_stop(const struct server *server, struct inbox *inbox) {
    inbox->stop_noticed = true;
    if (listener_is_left_to_others(&server->listener))
        shutdown(inbox->drain, SHUT_RD);
}

int inbox_take(const struct server *server, struct inbox *inbox) {
    for (;;) {
        if (stop_is_requested() && !inbox->stop_noticed)
            notice_stop(server, inbox);
        int fd = peek_fd(inbox->stop_noticed ? inbox->drain : inbox->socket);
        if (fd >= 0)
            remove_message(inbox);
        if (fd >= 0 || fd == -EMFILE || is_hung_up(-fd))
            return fd;
        if (fd != -EINTR && fd != -ENOTSOCK)
            back_off();
    }
}

bool inbox_report_free(const struct inbox *inbox) {
    while (send(inbox->drain, "", 1, MSG_NOSIGNAL) < 0) {
        if (is_hung_up(errno))
            return false;
        back_off();
    }
    return true;
}

void inbox_close(const struct inbox *inbox) {
    close(inbox->socket);
    close(inbox->drain);
}
