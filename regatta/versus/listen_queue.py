"""How many clients can connect to a server at once, how many it answers meanwhile, and which of its
processes take them.

The kernel completes connections up to the length of the listen queue, which the server chose
(`listen(2)`), and drops further attempts. Their clients try again after a second, then after two,
four and so on, so a race over more connections takes minutes.

A server with a process or thread for each connection leaves those waiting that it has none for, as
long as the others stay connected.
"""

import errno
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from regatta.machine.accounts import process_tree
from regatta.machine.network.ports import ESTABLISHED, LISTEN, ports_of

BEFORE_RETRY_S = 0.8
"""The kernel sends a dropped attempt again after 1 s."""
MOST_TRIED = 500
"""Within the usual limit of descriptors."""
MOST_READ = 1 << 20
FEWER = (50, 20, 10, 5, 2, 1)


@contextmanager
def taken_at_once(
    target: str, tried: int, request: bytes, patience_s: float
) -> Iterator[tuple[int, int]]:
    """How many of so many clients are connected to HOST:PORT at the first attempt, and how many of
    these are answered while all stay connected. They do until the end of the context.

    `patience_s`: from one answer to the next. An empty request is not sent: all are answered then.
    """
    host, _, port = target.rpartition(":")
    family, kind, protocol, _, address = socket.getaddrinfo(
        host.strip("[]"), int(port), type=socket.SOCK_STREAM
    )[0]
    with ExitStack() as opened:
        connecting = opened.enter_context(selectors.DefaultSelector())
        waiting = opened.enter_context(selectors.DefaultSelector())
        for _ in range(tried):
            client = opened.enter_context(socket.socket(family, kind, protocol))
            client.setblocking(False)
            if client.connect_ex(address) in (0, errno.EINPROGRESS):
                connecting.register(client, selectors.EVENT_WRITE)
        connected = 0
        ends_s = time.monotonic() + BEFORE_RETRY_S
        while connecting.get_map() and (left_s := ends_s - time.monotonic()) > 0:
            for client in ready(connecting, left_s):
                if client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                    connected += 1
                    waiting.register(client, selectors.EVENT_READ)
        if not request:
            yield connected, connected
            return
        for key in list(waiting.get_map().values()):
            with suppress(OSError):  # it has closed: it can be read
                key.fileobj.sendall(request)  # type: ignore[union-attr]
        while waiting.get_map() and (answered := ready(waiting, patience_s)):
            for client in answered:
                with suppress(OSError):
                    client.recv(MOST_READ)  # else its end would be a reset
        yield connected, connected - len(waiting.get_map())


def taken_by_each(pid: int, port: int) -> tuple[int, ...]:
    """How many connections each process of a server holds that accepts at this port, the most
    first. A process with children is left out: they accept for it."""
    workers = [
        one
        for one in process_tree.descendants(pid)
        if port in ports_of(one, LISTEN) and not children(one)
    ]
    return tuple(sorted((ports_of(one, ESTABLISHED).count(port) for one in workers), reverse=True))


def children(pid: int) -> list[int]:
    with suppress(OSError):  # it has ended
        return process_tree.children(pid)
    return []


def ready(waiting: selectors.BaseSelector, patience_s: float) -> list[socket.socket]:
    """Those that are; nobody waits for them any longer."""
    found = [key.fileobj for key, _ in waiting.select(patience_s)]
    for one in found:
        waiting.unregister(one)
    return [one for one in found if isinstance(one, socket.socket)]


def fewer(connected: int) -> int:
    """A number of connections that leaves a margin, as clients also reconnect."""
    return next((count for count in FEWER if 2 * count <= connected), 1)
