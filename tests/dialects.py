"""The two wire dialects behind one interface, so that a test is written once for both."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.http_replies import parse_replies, read_http_reply
from tests.servers import read_reply, rows_of

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Dialect:
    """How to ask for processes in one dialect, and how to read and check the replies."""

    name: str
    pattern: bytes
    """A request, with %d for the number of rows."""
    ending: bytes
    """Start of the error reply to a truncated or unfinished request."""
    split: Callable[[bytes], list[bytes]]
    receive: Callable[[socket.socket], bytes]

    def request(self, rows: int) -> bytes:
        return self.pattern % rows

    def answers(self, received: bytes) -> list[Rows]:
        """The rows of every reply. Fails if any reply is incomplete."""
        return [rows_of(reply) for reply in self.split(received)]

    def read_answer(self, connection: socket.socket) -> Rows:
        """Reads one reply and returns its rows. The connection stays open."""
        (rows,) = self.answers(self.receive(connection))
        return rows


def split_lines(received: bytes) -> list[bytes]:
    replies = received.split(b"\n\n")
    assert replies.pop() == b"", "the last reply is cut short"
    return [reply + b"\n\n" for reply in replies]


def split_http(received: bytes) -> list[bytes]:
    replies = parse_replies(received)
    assert {reply.status for reply in replies} <= {200}
    return [reply.body + b"\n" for reply in replies]


LINE = Dialect("line", b"top %d\n", b"error: ", split_lines, read_reply)
HTTP = Dialect(
    "http",
    b"GET /top?n=%d HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"HTTP/1.1 4",
    split_http,
    read_http_reply,
)
DIALECTS = (LINE, HTTP)
