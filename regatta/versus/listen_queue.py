"""How many clients can connect to a server at once.

The kernel completes connections up to the length of the listen queue, which the server chose
(`listen(2)`), and drops further attempts. Their clients try again after a second, then after two,
four and so on, so a race over more connections takes minutes.
"""

import errno
import selectors
import socket
import time
from contextlib import ExitStack

BEFORE_RETRY_S = 0.8
"""The kernel sends a dropped attempt again after 1 s."""
MOST_TRIED = 500
"""Within the usual limit of descriptors."""
FEWER = (50, 20, 10, 5, 2, 1)


def connected_at_once(target: str, tried: int) -> int:
    """How many of so many clients are connected to HOST:PORT at the first attempt."""
    host, _, port = target.rpartition(":")
    family, kind, protocol, _, address = socket.getaddrinfo(
        host.strip("[]"), int(port), type=socket.SOCK_STREAM
    )[0]
    with ExitStack() as opened, selectors.DefaultSelector() as waiting:
        for _ in range(tried):
            client = opened.enter_context(socket.socket(family, kind, protocol))
            client.setblocking(False)
            if client.connect_ex(address) in (0, errno.EINPROGRESS):
                waiting.register(client, selectors.EVENT_WRITE)
        connected = 0
        ends_s = time.monotonic() + BEFORE_RETRY_S
        while waiting.get_map() and (left_s := ends_s - time.monotonic()) > 0:
            for key, _ in waiting.select(left_s):
                waiting.unregister(key.fileobj)
                assert isinstance(key.fileobj, socket.socket)
                connected += key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    return connected


def fewer(connected: int) -> int:
    """A number of connections that leaves a margin, as clients also reconnect."""
    return next((count for count in FEWER if 2 * count <= connected), 1)
