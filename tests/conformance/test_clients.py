"""Clients that reset, stall, read slowly, keep silent or come in crowds: no other client pays."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.http_replies import parse_replies
from tests.servers import PATIENCE_S, Server, read_all, read_reply, rows_of


def reset(connection: socket.socket) -> None:
    """Closes with a reset in place of an end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_a_reset_in_mid_request_harms_nobody(server: Server) -> None:
    for beginning in (b"", b"to", b"GET /top HTTP/1.1\r\nHo"):
        connection = server.connect()
        connection.sendall(beginning)
        reset(connection)
        assert len(rows_of(server.ask(b"top 2\n"))) == 2


def test_a_reset_in_mid_reply_harms_nobody(server: Server) -> None:
    connection = server.connect(receive_buffer=1)
    connection.sendall(b"top 64\n" * 1000)
    connection.recv(1)
    reset(connection)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


def test_replies_larger_than_the_socket_buffers_reach_a_slow_reader_whole(
    start: Callable[..., Server],
) -> None:
    """Some 6 MB of replies against buffers of some 4 MB; the first 2,000 bytes one at a time."""
    server = start("--work", "snapshot", "--max-age", "86400000")
    expected = server.ask(b"top 64\n")
    count = 6_000_000 // len(expected)
    with server.connect(receive_buffer=4096) as connection:
        sender = os.fork()
        if sender == 0:  # the requests, too, fill the buffers: they are sent beside the reading
            with contextlib.suppress(OSError):
                connection.sendall(b"top 64\n" * count)
                connection.shutdown(socket.SHUT_WR)
            os._exit(0)
        received = b"".join(connection.recv(1) for _ in range(2000)) + read_all(connection)
        os.waitpid(sender, 0)
    assert received == expected * count


def test_a_client_that_says_nothing_is_closed_after_the_idle_timeout(
    start: Callable[..., Server],
) -> None:
    server = start("--idle-timeout", "300")
    with server.connect() as silent:
        begun = time.monotonic()
        assert silent.recv(1) == b""
        assert 0.2 < time.monotonic() - begun < 5
    with server.connect() as begun_request:
        begun_request.sendall(b"GET /top HTTP/1.1\r\n")
        (reply,) = parse_replies(read_all(begun_request), ["GET"])
        assert reply.status == 408
    with server.connect() as begun_line:
        begun_line.sendall(b"to")
        assert read_all(begun_line) == b"error: the request took too long\n\n"
    assert server.stop()["errors"]["timeout"] == 3


def test_a_request_that_comes_a_byte_at_a_time_is_ended(start: Callable[..., Server]) -> None:
    """No pause is longer than the idle timeout, and yet the request takes too long."""
    server = start("--idle-timeout", "400")
    with server.connect() as drip, selectors.DefaultSelector() as selector:
        selector.register(drip, selectors.EVENT_READ)
        begun = time.monotonic()
        while not selector.select(timeout=0.1):
            drip.sendall(b"t")
            assert time.monotonic() - begun < 5, "it is still being waited for"
        assert read_all(drip) == b"error: the request took too long\n\n"


def test_a_client_that_pipelines_leaves_others_their_turn(
    start: Callable[..., Server], design: str
) -> None:
    """Others need not wait until all of it is answered, but in the iterative design."""
    server = start("--work", "scan")
    with server.connect() as greedy, server.connect() as other:
        greedy.sendall(b"top\n" * 500)
        greedy.shutdown(socket.SHUT_WR)
        greedy.recv(1, socket.MSG_PEEK)
        other.sendall(b"top\n")
        read_reply(other)
        answered = greedy.recv(1 << 24, socket.MSG_DONTWAIT).count(b"\n\n")
    assert (answered < 400) == (design != "iterative")


def test_a_silent_client_delays_others_only_in_the_iterative_design(
    start: Callable[..., Server], design: str
) -> None:
    server = start("--idle-timeout", "1000")
    with server.connect() as silent:
        assert silent.fileno() >= 0
        begun = time.monotonic()
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
        waited = time.monotonic() - begun
    assert (waited > 0.8) == (design == "iterative")


def test_a_thousand_connections_opened_at_once_are_all_answered(server: Server) -> None:
    """All are opened, then all ask and end, then all are read: nobody waits for anybody."""
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(1000)]
        for connection in connections:
            connection.sendall(b"top 1\n")
            connection.shutdown(socket.SHUT_WR)
        for connection in connections:
            assert len(rows_of(read_all(connection))) == 1


def test_more_clients_than_allowed_are_told_so(start: Callable[..., Server], design: str) -> None:
    if design == "iterative":
        # One client at a time is what it is: others wait in the backlog, none is refused.
        server = start("--max-connections", "1")
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
        return
    server = start("--max-connections", "5")
    with contextlib.ExitStack() as stack:
        served = [stack.enter_context(server.connect()) for _ in range(5)]
        for connection in served:
            connection.sendall(b"top 1\n")
            read_reply(connection)
        with server.connect() as surplus:
            answer = read_all(surplus)
        (reply,) = parse_replies(answer, ["GET"])
        assert reply.status == 503
        assert answer.endswith(b"\n\n"), "the line dialect's end of a reply"
        for connection in served:
            connection.sendall(b"top 1\n")
            read_reply(connection)
    assert server.stop()["errors"]["refused"] == 1


def test_with_no_descriptor_left_load_is_shed_and_nothing_spins(
    start: Callable[..., Server],
) -> None:
    server = start(descriptors=24)
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(server.connect()) for _ in range(60)]
        before = cpu_seconds(server.process.pid)
        with selectors.DefaultSelector() as selector:
            for connection in crowd:
                selector.register(connection, selectors.EVENT_READ)
            selector.select(timeout=1.0)  # a second in which a spinning server would burn CPU
        assert cpu_seconds(server.process.pid) - before < 0.5
    assert len(rows_of(eventually_ask(server))) == 2


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def eventually_ask(server: Server) -> bytes:
    """Asks until it is served: those who left before must first be noticed."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(ConnectionError):
            reply = server.ask(b"top 2\n")
            if reply.startswith(b"rank"):
                return reply
        assert time.monotonic() < deadline, "the server did not recover"


@pytest.mark.parametrize("listen", ["[::1]:0", "localhost:0"])
def test_it_listens_where_it_is_told(start: Callable[..., Server], listen: str) -> None:
    server = start(listen=listen)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


def test_concurrent_requests_of_the_snapshot_work_share_one_scan(
    start: Callable[..., Server],
) -> None:
    server = start("--work", "snapshot", "--max-age", "86400000")
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(50)]
        for connection in connections:
            connection.sendall(b"top 2\n" * 4)
            connection.shutdown(socket.SHUT_WR)
        assert len({read_all(connection) for connection in connections}) == 1
    summary = server.stop()
    assert summary["requests"] == 200
    assert summary["scans"] == 1
