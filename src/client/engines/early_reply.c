#include "client/engines/early_reply.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

bool reply_is_early(int fd, const struct request *request, size_t unsent,
                    const struct reply *reply) {
    if (!request->is_large || (reply->dialect == DIALECT_HTTP && reply->status / 100 != 2))
        return false;
    /* The reply itself acknowledges all that had arrived before it was sent. */
    int unacknowledged = 0;
    return unsent > 0 || (ioctl(fd, SIOCOUTQ, &unacknowledged) == 0 && unacknowledged > 0);
}
