"""HTTP replies parsed by h11, which shares no code with ours."""

import re
import socket
from dataclasses import dataclass, field

import h11


@dataclass
class Reply:
    """Header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes = field(default=b"")


def parse_replies(received: bytes) -> list[Reply]:
    """All replies, taken as replies to GET. Fails on invalid HTTP and on surplus bytes."""
    client = h11.Connection(h11.CLIENT)
    replies: list[Reply] = []
    client.receive_data(received)
    client.receive_data(b"")
    while client.trailing_data[0] != b"":
        client.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
        client.send(h11.EndOfMessage())
        while not isinstance(event := client.next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                headers = {name.decode(): value.decode() for name, value in event.headers}
                replies.append(Reply(event.status_code, headers))
            elif isinstance(event, h11.Data):
                replies[-1].body += bytes(event.data)
            else:
                raise AssertionError(f"{event} in place of reply {len(replies) + 1}")
        if client.their_state is not h11.DONE or client.our_state is not h11.DONE:
            break
        client.start_next_cycle()
    assert client.trailing_data[0] == b"", f"left over: {client.trailing_data[0]!r}"
    return replies


def only_reply(received: bytes) -> Reply:
    (reply,) = parse_replies(received)
    return reply


def read_http_reply(connection: socket.socket) -> bytes:
    """Reads one reply to a GET. The connection stays open."""
    received = bytearray()
    while (length := length_of(received)) is None or len(received) < length:
        piece = connection.recv(65536)
        assert piece, f"the connection ended in mid-reply: {bytes(received)!r}"
        received += piece
    return bytes(received)


def length_of(beginning: bytearray) -> int | None:
    """Length of the reply that starts with these bytes; None if its head is incomplete."""
    head, end, _ = beginning.partition(b"\r\n\r\n")
    if not end:
        return None
    (length,) = re.findall(rb"\r\nContent-Length: (\d+)", head)
    return len(head) + len(end) + int(length)
