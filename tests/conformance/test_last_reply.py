"""A connection's last reply arrives whole, although its client is still sending when the server
ends the connection (RFC 9112, 9.6)."""

import contextlib
import socket
import time

from tests.http_replies import parse_replies
from tests.servers import Start, read_all

BEHIND = 64 * 1024
"""Bytes behind the last request: more than a server reads before it answers."""
UPLOAD = 3_000_000
SOON_S = 5


def test_a_reply_is_whole_although_bytes_follow_the_last_request(start: Start) -> None:
    """The client reads it late, through a small buffer: a reset would discard the rest."""
    server = start("--work", "snapshot")
    head = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with server.connect(receive_buffer=1) as client:
        client.sendall(head + b"x" * BEHIND)
        client.recv(1, socket.MSG_PEEK)
        (reply,) = parse_replies(read_all(client))
    assert reply.status == 200
    assert b"regatta_" in reply.body


def test_an_upload_is_refused_with_a_reply(start: Start) -> None:
    """Whoever sends all of it before reading, as most clients do, learns why."""
    server = start("--work", "snapshot")
    head = b"POST /top HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % UPLOAD
    with server.connect() as client:
        client.sendall(head + b"x" * UPLOAD)
        (reply,) = parse_replies(read_all(client))
    assert reply.status == 405


def test_a_refused_client_that_stays_is_closed_soon(start: Start) -> None:
    server = start("--work", "snapshot", "--max-connections", "1")
    with server.connect() as silent:
        silent.sendall(b"hello\n")
        begun = time.monotonic()
        server.connect_when_there_is_room().close()
        assert time.monotonic() - begun < SOON_S


def test_a_refused_client_that_sends_on_is_closed_soon(start: Start) -> None:
    server = start("--work", "snapshot")
    with server.connect() as endless, contextlib.suppress(ConnectionError):
        begun = time.monotonic()
        endless.sendall(b"hello\n")
        while time.monotonic() - begun < SOON_S:
            endless.sendall(bytes(1 << 16))
    assert time.monotonic() - begun < SOON_S, "the server still takes what it sends"
