"""An upgrade: a new server takes over the listener of an old one, which hears out its clients.

Nothing is lost: whoever connected or stood in the queue is answered by one of the two."""

import contextlib
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.dialects import HTTP, LINE, Dialect
from tests.http_replies import parse_replies
from tests.processes import wait_until_asleep
from tests.servers import ListedDesign, RunningServer, Start, ask_over, read_all, rows_of
from tests.upgrading import Service, load, wait_until_answered

HEARING_S = 1
"""For which a server hears its clients after a stop."""
AT_ONCE = 8
"""Clients that ask while servers are replaced."""


@pytest.fixture
def service(design: ListedDesign, tmp_path: Path) -> Iterator[Service]:
    with contextlib.ExitStack() as stack:
        yield Service(stack, tmp_path, "--design", design.name, "--work", "snapshot")


def per_connection(dialect: Dialect, design: ListedDesign) -> tuple[str, str]:
    """An HTTP client, which is told of the end, keeps its connection; one of the line dialect asks
    once, as it cannot be told; and where one client is served at a time others have their turn."""
    requests = 1 if dialect is LINE else 50 if design.serves == "one" else 0
    return "--per-connection", str(requests)


def upgrade_under_load(service: Service, options: Sequence[str], times: int, requests: int) -> int:
    """Every other time the old server ends before the new one starts. Returns how many requests
    there were; all must have been answered."""
    with load(service.server.address, "-c", str(AT_ONCE), *options) as told:
        for number in range(times):
            wait_until_answered(service.server, requests)
            (service.restart if number % 2 else service.upgrade)()
        wait_until_answered(service.server, requests)
    assert told["errors"] == dict.fromkeys(told["errors"], 0)
    return int(told["answered"])


def test_two_upgrades_under_load_lose_no_request(
    service: Service, dialect: Dialect, design: ListedDesign
) -> None:
    options = ("--dialect", dialect.name, *per_connection(dialect, design))
    # What is on its way when the load ends has been counted by the server alone.
    assert upgrade_under_load(service, options, 2, 300) >= 900 - AT_ONCE


@pytest.mark.long
def test_twenty_upgrades_lose_none_of_a_hundred_thousand_requests(
    service: Service, dialect: Dialect, design: ListedDesign
) -> None:
    options = ("--dialect", dialect.name, *per_connection(dialect, design))
    requests = upgrade_under_load(service, options, 20, 5000)
    print(f"{design.name}, {dialect.name}: {requests} requests, 20 upgrades, 0 lost")
    assert requests >= 100_000


def heard(server: RunningServer, connection: socket.socket, asked: bytes) -> bytes | None:
    """What a connected client is told who asks when the server has noticed that it is to stop;
    None: the machine was too slow for that."""
    server.process.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    wait_until_asleep(server.process.pid)
    connection.sendall(asked)
    return read_all(connection) if time.monotonic() - begun < HEARING_S / 2 else None


@pytest.mark.parametrize("before", [0, 1])
def test_a_client_that_is_connected_may_ask_once_more_after_a_stop(
    start: Start, dialect: Dialect, before: int
) -> None:
    """Whether or not it had asked before. The reply says that it is the last, where it can."""
    told = None
    while told is None:
        server = start("--work", "snapshot")
        with server.connect() as connection:
            for _ in range(before):
                connection.sendall(dialect.request(2))
                dialect.read_answer(connection)
            wait_until_asleep(server.process.pid)
            told = heard(server, connection, dialect.request(3))
        server.stop()
    assert [len(rows) for rows in dialect.answers(told)] == [3]
    if dialect is HTTP:
        (reply,) = parse_replies(told)
        assert reply.headers["connection"] == "close"


def test_the_answer_to_a_token_after_a_stop_is_not_the_last(start: Start, tmp_path: Path) -> None:
    """In lines a client may wait for it before it asks."""
    token = tmp_path / "token"
    token.write_text("correct-horse-battery-staple\n")
    token.chmod(0o600)
    begun, took_s = 0.0, HEARING_S * 1.0
    while took_s > HEARING_S / 2:
        server = start("--work", "snapshot", "--token-file", str(token))
        with server.connect() as connection:
            wait_until_asleep(server.process.pid)
            server.process.send_signal(signal.SIGTERM)
            begun = time.monotonic()
            wait_until_asleep(server.process.pid)
            connection.sendall(b"auth " + token.read_bytes())
            told = connection.recv(100)
            with contextlib.suppress(ConnectionError):
                connection.sendall(LINE.request(3))
            took_s = time.monotonic() - begun
            rest = read_all(connection)
        server.stop()
    assert told == b"ok\n\n"
    assert [len(rows) for rows in LINE.answers(rest)] == [3]


def test_a_request_may_be_completed_after_a_stop(start: Start, dialect: Dialect) -> None:
    told = None
    request = dialect.request(3)
    while told is None:
        server = start("--work", "snapshot")
        with server.connect() as connection:
            connection.sendall(request[:5])
            wait_until_asleep(server.process.pid)
            told = heard(server, connection, request[5:])
        server.stop()
    assert [len(rows) for rows in dialect.answers(told)] == [3]


def test_all_of_a_pipeline_that_comes_after_a_stop_is_answered(
    start: Start, dialect: Dialect
) -> None:
    """Wherever a buffer of the server's ends: in HTTP just between two requests."""
    told = None
    request = dialect.request(3)
    if dialect is HTTP:
        request = request.replace(b"\r\n\r\n", b"\r\nX: 12345678901234567\r\n\r\n")
        assert 1024 % len(request) == 0
    while told is None:
        server = start("--work", "snapshot")
        with server.connect() as connection:
            connection.sendall(request)
            dialect.read_answer(connection)
            wait_until_asleep(server.process.pid)
            told = heard(server, connection, request * 200)
        server.stop()
    assert [len(rows) for rows in dialect.answers(told)] == [3] * 200


@pytest.mark.parametrize("neighbour", ["epoll", "iterative"])
def test_two_servers_on_one_listener_do_not_change_how_the_other_waits(
    service: Service, neighbour: str
) -> None:
    """One may block in accept and the other must not: neither is stuck there, and none spins."""
    first = service.server
    with first.connect() as kept:
        ask_over(kept)
        other = service.start("--design", neighbour)
        for _ in range(20):
            rows_of(other.ask(b"top 2\n"))
            rows_of(ask_over(kept))
    wait_until_asleep(first.process.pid)
    wait_until_asleep(other.process.pid)
    other.stop()
    for _ in range(20):
        rows_of(first.ask(b"top 2\n"))
    wait_until_asleep(first.process.pid)


def test_the_listener_is_set_as_the_new_server_was_told(tmp_path: Path) -> None:
    """The old one left silent clients to the kernel."""
    with contextlib.ExitStack() as stack:
        service = Service(stack, tmp_path, "--defer-accept")
        new = service.start()
        service.server.stop()
        with new.connect():
            assert new.stop()["connections"] == 1
