"""Hostile clients: python -m tests.hostile.attackers NAME COUNT HOST PORT

Each keeps up to COUNT connections open and replaces those that end, until it is killed. The
classes differ in what they do when a connection is established, readable or writable. For slow
clients there is slowhttptest (cases.py)."""

import resource
import selectors
import socket
import struct
import sys
import time

TURN_S = 0.1
MOST_AT_ONCE = 256
"""New connections between two polls of the existing ones."""
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
REQUESTS = 1_000_000
LARGE_REPLY = b"GET /top?n=64&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = b"GET /top HTTP/1.1\r\nHost: localhost\r\nX-Long: "
HEAD_BYTES = 1 << 20
TCP_REPAIR = 19
"""tcp(7): closing a socket in this mode sends neither FIN nor RST. Needs CAP_NET_ADMIN."""
EVENTS = selectors.EVENT_READ | selectors.EVENT_WRITE
buffer = bytearray(1 << 20)


class Attacker:
    """Connects and sends nothing."""

    receive_buffer: int | None = None
    a_second: int | None = None
    """Limit on new connections per second, if any."""

    def __init__(self, count: int, address: tuple[str, int]) -> None:
        self.count = count
        self.address = address
        self.selector = selectors.EpollSelector()
        self.open: set[socket.socket] = set()
        self.made: set[socket.socket] = set()
        self.begun = 0
        self.since = time.monotonic()

    def connected(self, connection: socket.socket) -> None:
        self.selector.modify(connection, selectors.EVENT_READ)

    def readable(self, connection: socket.socket) -> None:
        """Reads and discards everything."""
        if connection.recv_into(buffer) == 0:
            self.end(connection)

    def writable(self, connection: socket.socket) -> None:
        pass

    def begin(self) -> None:
        connection = socket.socket()
        connection.setblocking(False)
        if self.receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
        connection.connect_ex(self.address)
        self.selector.register(connection, selectors.EVENT_WRITE)
        self.open.add(connection)
        self.begun += 1

    def end(self, connection: socket.socket) -> None:
        self.selector.unregister(connection)
        self.open.discard(connection)
        self.made.discard(connection)
        connection.close()

    def due(self) -> int:
        """Number of connections to start now."""
        wanted = min(MOST_AT_ONCE, self.count - len(self.open))
        if self.a_second is None:
            return wanted
        return min(wanted, int((time.monotonic() - self.since) * self.a_second) - self.begun)

    def serve(self, connection: socket.socket, events: int) -> None:
        if connection not in self.made:
            error = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error != 0:
                raise OSError(error, "not connected")
            self.made.add(connection)
            self.connected(connection)
            return
        if events & selectors.EVENT_READ:
            self.readable(connection)
        if events & selectors.EVENT_WRITE and connection in self.open:
            self.writable(connection)

    def run(self) -> None:
        while True:
            for _ in range(self.due()):
                self.begin()
            for key, events in self.selector.select(TURN_S):
                connection = key.fileobj
                try:
                    self.serve(connection, events)
                except BlockingIOError:
                    continue
                except OSError:
                    self.end(connection)


class Resetter(Attacker):
    """Sends large requests, reads the start of the reply, and resets."""

    receive_buffer = 1

    def connected(self, connection: socket.socket) -> None:
        super().connected(connection)
        connection.send(LARGE_REPLY * 8)

    def readable(self, connection: socket.socket) -> None:
        connection.recv(100)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.end(connection)


class Vanisher(Attacker):
    """Sends half a head and disappears without FIN, so that the server's side stays open."""

    a_second = 1000

    def connected(self, connection: socket.socket) -> None:
        connection.send(REQUEST[:20])
        connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        self.end(connection)


class Sender(Attacker):
    """Sends `total` bytes as fast as possible, repeating the first `period` bytes of `piece`."""

    piece: memoryview
    period: int
    total: int

    def __init__(self, count: int, address: tuple[str, int]) -> None:
        super().__init__(count, address)
        self.sent: dict[socket.socket, int] = {}

    def connected(self, connection: socket.socket) -> None:
        self.selector.modify(connection, EVENTS)
        self.sent[connection] = 0

    def writable(self, connection: socket.socket) -> None:
        sent = self.sent[connection]
        start = sent % self.period
        self.sent[connection] += connection.send(self.piece[start : start + self.total - sent])
        if self.sent[connection] == self.total:
            connection.shutdown(socket.SHUT_WR)
            self.selector.modify(connection, selectors.EVENT_READ)

    def end(self, connection: socket.socket) -> None:
        super().end(connection)
        self.sent.pop(connection, None)


class Piper(Sender):
    """Sends a million requests on each connection and reads all replies."""

    piece = memoryview(REQUEST * 4000)
    period = len(REQUEST)
    total = len(REQUEST) * REQUESTS


class Heads(Sender):
    """Sends a head of 1 MiB on each connection."""

    piece = memoryview(HEAD + b"a" * (HEAD_BYTES - len(HEAD)))
    period = total = HEAD_BYTES


class NeverReader(Sender):
    """Sends large requests without end and reads nothing."""

    receive_buffer = 1
    piece = memoryview(LARGE_REPLY * 1000)
    period = len(LARGE_REPLY)
    total = 1 << 62

    def connected(self, connection: socket.socket) -> None:
        super().connected(connection)
        self.selector.modify(connection, selectors.EVENT_WRITE)


ATTACKERS: dict[str, type[Attacker]] = {
    "silent": Attacker,
    "resets": Resetter,
    "vanishes": Vanisher,
    "pipes": Piper,
    "heads": Heads,
    "never-reads": NeverReader,
}


def main(name: str, count: str, host: str, port: str) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    ATTACKERS[name](int(count), (host, int(port))).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
