"""Holds idle connections open: `hold_connections.py HOST PORT asked|silent`.

Each line on stdin is a number of connections to add; each sends one request (`asked`) or nothing
(`silent`). When the server has accepted them, the total is printed. It exits at the end of stdin,
with status 1 if the server has closed a connection. A separate program, because only a process can
enter the client's network namespace.
"""

import select
import socket
import sys

TIMEOUT_S = 20
REQUEST = b"GET /top?n=2 HTTP/1.1\r\nHost: localhost\r\n\r\n"
# Connections are opened and asked in batches: a server that scans all connections at each wake-up
# should not have to wake up for each one.
BATCH = 100


def read_reply(connection: socket.socket) -> None:
    """One whole reply."""
    reply = b""
    missing = 1
    while missing > 0:
        piece = connection.recv(65536)
        if not piece:
            sys.exit("the server closed a connection within a reply")
        reply += piece
        head, end, body = reply.partition(b"\r\n\r\n")
        if end:
            length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
            missing = int(length) - len(body)


def ask(connections: list[socket.socket]) -> None:
    for connection in connections:
        connection.sendall(REQUEST)
    for connection in connections:
        read_reply(connection)


def make(host: str, port: int, count: int) -> list[socket.socket]:
    return [socket.create_connection((host, port), TIMEOUT_S) for _ in range(count)]


def hold(host: str, port: int, count: int, asks: bool) -> list[socket.socket]:
    """Opens this many connections and waits until the server has accepted them."""
    held: list[socket.socket] = []
    while len(held) < count:
        batch = make(host, port, min(BATCH, count - len(held)))
        if asks:
            ask(batch)
        held += batch
    # Connections are accepted in order: when one more is answered, all have been accepted.
    (last,) = make(host, port, 1)
    with last:
        ask([last])
    return held


def lost(held: list[socket.socket]) -> int:
    """How many the server has closed; nothing else would make them readable."""
    poll = select.poll()
    for connection in held:
        poll.register(connection, select.POLLIN)
    return len(poll.poll(0))


def main(host: str, port: int, asks: bool) -> None:
    held: list[socket.socket] = []
    for line in sys.stdin:
        held += hold(host, port, int(line), asks)
        print(len(held), flush=True)
    if lost(held):
        sys.exit(f"the server closed {lost(held)} of {len(held)} connections")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "asked")
