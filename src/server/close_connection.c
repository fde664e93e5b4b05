#include "server/close_connection.h"

#include "base/hot.h"

#include <sys/socket.h>
#include <unistd.h>

enum { DISCARD_BYTES = 16 * 1024, DISCARD_READS = 64 };

HOT void close_connection(int fd, bool is_refused) {
    if (is_refused) {
        char discarded[DISCARD_BYTES];
        shutdown(fd, SHUT_WR);
        for (int i = 0; i < DISCARD_READS; i++)
            if (recv(fd, discarded, sizeof discarded, MSG_DONTWAIT) <= 0)
                break;
    }
    close(fd);
}
