"""A client that asks for much at once, and takes the replies late."""

import json
import socket

from tests.processes import sleepers
from tests.servers import RunningServer
from tests.sockets import wait_until_read

REQUESTS = 50
ROWS = 64
REQUEST = b"top %d format=json\n" % ROWS
HELD_LONG = ("--work", "snapshot", "--max-age", "86400000")
"""For a server that is asked so: one snapshot for as long as it lives."""


def read_replies(connection: socket.socket, count: int) -> list[bytes]:
    """So many replies of the line dialect, each of one line."""
    received = bytearray()
    while received.count(b"\n\n") < count:
        piece = connection.recv(65536)
        assert piece, "the connection ended before all was answered"
        received += piece
    return bytes(received).split(b"\n\n")[:-1]


def check_that_all_is_answered(server: RunningServer) -> None:
    """All is asked before the client takes the first reply, and the replies, some 8 KB each, are
    more than the server keeps for a client and the kernel for a socket."""
    with sleepers(ROWS):
        server.ask(REQUEST)
    with server.connect(receive_buffer=1, segment=536) as connection:
        connection.sendall(REQUEST * REQUESTS)
        wait_until_read(connection)
        connection.recv(1, socket.MSG_PEEK)
        replies = read_replies(connection, REQUESTS)
    assert [len(json.loads(reply)["processes"]) for reply in replies] == [ROWS] * REQUESTS
