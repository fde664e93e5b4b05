"""A client that pipelines many requests and reads the replies late."""

import json
import socket

from tests.processes import sleepers
from tests.servers import RunningServer
from tests.sockets import wait_until_read

REQUESTS = 50
ROWS = 64
REQUEST = b"top %d format=json\n" % ROWS


def read_replies(connection: socket.socket, count: int) -> list[bytes]:
    """`count` one-line replies of the line dialect."""
    received = bytearray()
    while received.count(b"\n\n") < count:
        piece = connection.recv(65536)
        assert piece, "the connection ended before all requests were answered"
        received += piece
    return bytes(received).split(b"\n\n")[:-1]


def check_all_answered(server: RunningServer) -> None:
    """Sends all requests before reading the first reply. The replies, about 8 KB each, exceed what
    the server buffers for a client plus what the kernel buffers for a socket."""
    with sleepers(ROWS):
        server.ask(REQUEST)
    with server.connect(receive_buffer=1, segment=536) as connection:
        connection.sendall(REQUEST * REQUESTS)
        wait_until_read(connection)
        connection.recv(1, socket.MSG_PEEK)
        replies = read_replies(connection, REQUESTS)
    assert [len(json.loads(reply)["processes"]) for reply in replies] == [ROWS] * REQUESTS
