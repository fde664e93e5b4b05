"""SIGTERM: the server stops accepting, answers pending requests, and exits with status 0."""

import contextlib
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.dialects import Dialect
from tests.every_design import all_at_once
from tests.servers import (
    ONE_SNAPSHOT,
    PATIENCE_S,
    SANITIZER,
    ListedDesign,
    Start,
    read_all,
    read_reply,
    running,
)
from tests.sockets import is_listening, wait_until_arrived, wait_until_read
from tests.waiting import wait_until

DRAIN_LIMIT_S = 5
AT_ONCE_S = 4
"""Less than DRAIN_LIMIT_S, after which a drain drops its clients."""


def test_an_idle_server_exits_at_once(start: Start) -> None:
    """Repeatedly, because the typical bug is a race between the signal and a blocking call."""
    if SANITIZER == "thread":
        pytest.skip("this sanitizer delays a signal that arrives just before a blocking call")
    for _ in range(10):
        start().stop()


ASKED = (b"", b"to", b"top 2\n", b"GET /top HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("asked", "stop"), [*((asked, signal.SIGTERM) for asked in ASKED), (b"to", signal.SIGINT)]
)
def test_idle_connections_are_closed(asked: bytes, stop: signal.Signals, tmp_path: Path) -> None:
    """After a grace period in which they may still ask."""

    def check(design: ListedDesign, folder: Path) -> None:
        with running(folder, "--design", design.name) as server, server.connect() as connection:
            if asked:
                connection.sendall(asked)
                wait_until_read(connection)
            if asked.endswith(b"2\n"):
                read_reply(connection)
            begun = time.monotonic()
            server.process.send_signal(stop)
            reply = read_all(connection)
            assert reply.startswith((b"error: ", b"HTTP/1.1 400 ")) or asked in (b"", b"top 2\n")
            server.stop()
            assert time.monotonic() - begun < AT_ONCE_S

    all_at_once(check, tmp_path)


def test_a_request_that_was_accepted_is_answered(start: Start, dialect: Dialect) -> None:
    """When the signal arrives, twenty requests are pending, in the backlog of most designs."""
    server = start("--work", "scan")
    with server.connect_many(20) as connections:
        for connection in connections:
            connection.sendall(dialect.request(3))
        for connection in connections:
            wait_until_arrived(connection)
        server.process.send_signal(signal.SIGTERM)
        for connection in connections:
            connection.shutdown(socket.SHUT_WR)
            assert [len(rows) for rows in dialect.answers(read_all(connection))] == [3]
    assert server.stop()["requests"] == 20


def test_all_workers_serve_the_backlog(tmp_path: Path) -> None:
    """One of them alone would not within the drain limit."""

    def check(design: ListedDesign, folder: Path) -> None:
        if design.serves != "workers" and design.name not in ("epoll-workers", "leader-followers"):
            return
        options = ("--design", design.name, *design.workers(4), "--work", "wait=400ms")
        with running(folder, *options) as server, server.connect_many(28) as clients:
            for client in clients:
                client.sendall(b"top 1\n")
                client.shutdown(socket.SHUT_WR)
            select.select(clients, [], [])  # the first reply: every worker has its next request
            server.process.send_signal(signal.SIGTERM)
            for client in clients:
                assert read_all(client).startswith(b"rank")

    all_at_once(check, tmp_path)


def test_all_pipelined_requests_are_answered(start: Start, dialect: Dialect) -> None:
    """However often the signal is sent. The work takes a time that does not depend on the number of
    processes here, because a drain has a time limit."""
    server = start("--work", "wait=1ms")
    with server.connect() as connection:
        connection.sendall(dialect.request(2) * 200)
        connection.recv(1, socket.MSG_PEEK)
        for _ in range(5):
            server.process.send_signal(signal.SIGTERM)
        assert len(dialect.answers(read_all(connection))) == 200
    assert server.stop()["requests"] == 200


@contextlib.contextmanager
def eight_clients(each: Callable[[int], None]) -> Iterator[None]:
    """Calls it with 0 to 7 in threads, which must end by themselves."""
    clients = [threading.Thread(target=each, args=(index,)) for index in range(8)]
    for client in clients:
        client.start()
    yield
    for client in clients:
        client.join(PATIENCE_S)
        assert not client.is_alive()


def test_no_reply_is_cut_short_under_load(start: Start, dialect: Dialect) -> None:
    """Clients keep asking; every connection ends between two complete replies."""
    server = start("--work", "snapshot", "--max-age", "10")
    answered, cut = [0] * 8, []
    under_way = threading.Barrier(9)

    def ask_on(index: int) -> None:
        with server.connect() as connection:
            under_way.wait(PATIENCE_S)
            with contextlib.suppress(ConnectionError):
                while True:
                    connection.sendall(dialect.request(5))
                    if not connection.recv(1, socket.MSG_PEEK):
                        return
                    try:
                        dialect.read_answer(connection)
                    except (AssertionError, ConnectionError) as error:
                        cut.append(error)
                        return
                    answered[index] += 1

    with eight_clients(ask_on):
        under_way.wait(PATIENCE_S)
        while sum(answered) < 200:
            assert server.process.poll() is None
        server.process.send_signal(signal.SIGTERM)
    assert cut == []
    assert server.stop()["requests"] >= sum(answered)


def test_clients_that_connect_after_the_signal_do_not_prolong_the_drain(start: Start) -> None:
    """Eight clients connect, ask and leave repeatedly until the server is gone."""
    server = start("--work", "scan")
    answered = [0] * 8

    def ask_again(index: int) -> None:
        with contextlib.suppress(OSError):  # refused or reset
            while server.ask(b"top 2\n"):
                answered[index] += 1

    with eight_clients(ask_again):
        while sum(answered) < 50:
            assert server.process.poll() is None
        begun = time.monotonic()
        server.stop()
        assert time.monotonic() - begun < AT_ONCE_S


def test_clients_that_connect_during_the_drain_are_refused_and_the_port_is_free(
    start: Start, design: ListedDesign, tmp_path: Path
) -> None:
    """Otherwise the kernel would connect clients that nobody serves. Here one client, who reads
    nothing, holds up the drain until its limit."""
    server = start(*design.workers(2), *ONE_SNAPSHOT)
    (folder := tmp_path / "next").mkdir()
    with server.connect(receive_buffer=1) as greedy:
        greedy.settimeout(0.3)
        with contextlib.suppress(TimeoutError):
            greedy.sendall(b"top 64\n" * 100_000)
        begun = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not is_listening(server.port), "it still listens")
        with pytest.raises(ConnectionRefusedError):
            server.connect()
        with running(folder, "--design", design.name, listen=server.address) as next_one:
            assert next_one.ask(b"top 2\n").startswith(b"rank")
            ended, lasted = server.process.poll(), time.monotonic() - begun
            assert ended is None or lasted >= DRAIN_LIMIT_S, f"it ended within {lasted:.2f} s"


def leave_unread(client: socket.socket) -> None:
    """Leaves more pending output than the buffers hold."""
    client.settimeout(1.0)
    with contextlib.suppress(TimeoutError):
        client.sendall(b"top 64\n" * 1_000_000)


def leave_working(client: socket.socket) -> None:
    """Leaves a request that takes a minute."""
    client.sendall(b"top 2\n")
    wait_until_read(client)


@pytest.mark.parametrize(
    ("leave", "work"), [(leave_unread, ONE_SNAPSHOT), (leave_working, ("--work", "wait=60s"))]
)
def test_a_drain_ends_in_time_despite_unread_replies_or_long_work(
    leave: Callable[[socket.socket], None], work: tuple[str, ...], tmp_path: Path
) -> None:
    def check(design: ListedDesign, folder: Path) -> None:
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(running(folder, "--design", design.name, *work))
            leave(stack.enter_context(server.connect(receive_buffer=1)))
            begun = time.monotonic()
            server.stop()
            assert time.monotonic() - begun < DRAIN_LIMIT_S + 3

    all_at_once(check, tmp_path)
