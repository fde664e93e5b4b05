"""A connection's last reply arrives whole, although its client is still sending when the server
ends the connection (RFC 9112, 9.6)."""

import contextlib
import signal
import socket
import time
from pathlib import Path

from tests.every_design import all_at_once
from tests.http_replies import parse_replies
from tests.servers import (
    PATIENCE_S,
    ListedDesign,
    RunningServer,
    Start,
    ask_over,
    read_all,
    running,
)
from tests.sockets import tcp_sockets
from tests.waiting import wait_until

BEHIND = 64 * 1024
"""Bytes behind the last request: more than a server reads before it answers."""
UPLOAD = 3_000_000
SOON_S = 20
"""Far more than a leaving client has, for a busy machine; less than the idle timeout of 30 s."""
DRAINED_S = 4
"""Less than the drain limit of 5 s."""


def test_a_reply_is_whole_although_bytes_follow_the_last_request(start: Start) -> None:
    """The client reads it late, through a small buffer: a reset would discard the rest. Behind an
    earlier request, too: a server may receive on while it sends, without being asked for more."""
    server = start("--work", "snapshot")
    metrics = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for earlier in (b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with server.connect(receive_buffer=1) as client:
            client.sendall(earlier)
            taken = client.recv(1) if earlier else b""
            client.sendall(metrics + b"x" * BEHIND)
            client.recv(1, socket.MSG_PEEK)
            replies = parse_replies(taken + read_all(client))
        assert [reply.status for reply in replies] == [200] * (2 if earlier else 1)
        assert b"regatta_" in replies[-1].body


def test_an_upload_is_refused_with_a_reply(start: Start) -> None:
    """Whoever sends all of it before reading, as most clients do, learns why."""
    server = start("--work", "snapshot")
    head = b"POST /top HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % UPLOAD
    with server.connect() as client:
        client.sendall(head + b"x" * UPLOAD)
        (reply,) = parse_replies(read_all(client))
    assert reply.status == 405


def test_a_refused_client_that_sends_on_or_stays_alone_is_closed_soon(tmp_path: Path) -> None:
    """Of the second, no other client's event ends the server's wait."""

    def check(design: ListedDesign, folder: Path) -> None:
        with running(folder, "--design", design.name, "--work", "snapshot") as server:
            with server.connect() as endless, contextlib.suppress(ConnectionError):
                begun = time.monotonic()
                endless.sendall(b"hello\n")
                while time.monotonic() - begun < SOON_S:
                    endless.sendall(bytes(1 << 16))
            assert time.monotonic() - begun < SOON_S, "the server still takes what it sends"
            with server.connect() as silent:
                silent.sendall(b"hello\n")
                assert silent.recv(100).startswith(b"error:")
                wait_until(
                    lambda: not held_connections(server, silent),
                    lambda: f"it is still open: {held_connections(server, silent)}",
                    SOON_S,
                )

    all_at_once(check, tmp_path)


def test_a_drain_ends_soon_although_a_client_stays(tmp_path: Path) -> None:
    """It is answered while the server drains, and does not close its end."""

    def check(design: ListedDesign, folder: Path) -> None:
        with (
            running(folder, "--design", design.name, "--work", "snapshot") as server,
            server.connect() as client,
        ):
            ask_over(client)
            server.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(OSError):
                client.sendall(b"top 2\n")
            begun = time.monotonic()
            assert server.process.wait(PATIENCE_S) == 0
            assert time.monotonic() - begun < DRAINED_S

    all_at_once(check, tmp_path)


def held_connections(server: RunningServer, client: socket.socket) -> list[list[str]]:
    """The rows of /proc/net/tcp of the client's connection if the server has its socket.

    A port alone does not tell: on another address of this host, another test may use it.
    """
    ends = f":{server.port:04X}", f":{client.getsockname()[1]:04X}"
    return [
        row
        for row in tcp_sockets()
        if row[1].endswith(ends[0]) and row[2].endswith(ends[1]) and row[9] != "0"
    ]
