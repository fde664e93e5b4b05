"""Upgrades: a new server takes over the listener, and the old one finishes with its clients.

No request is lost: connected and queued clients are answered by one of the two servers."""

import contextlib
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dialects import HTTP, LINE, Dialect
from tests.http_replies import parse_replies
from tests.processes import wait_until_asleep
from tests.servers import ListedDesign, RunningServer, Start, ask_over, read_all, rows_of
from tests.tokens import token_file
from tests.upgrading import Service, load, wait_until_answered

GRACE_S = 1
"""Grace period in which a stopping server still takes requests."""
CLIENTS = 8


@pytest.fixture
def service(design: ListedDesign, tmp_path: Path) -> Iterator[Service]:
    with contextlib.ExitStack() as stack:
        yield Service(stack, tmp_path, "--design", design.name, "--work", "snapshot")


@pytest.mark.parametrize(
    ("times", "requests"), [(2, 300), pytest.param(20, 5000, marks=pytest.mark.long)]
)
def test_upgrades_under_load_lose_no_request(
    service: Service, dialect: Dialect, design: ListedDesign, times: int, requests: int
) -> None:
    """Upgrades and restarts in turn. HTTP clients keep their connections because the last reply
    announces the close. Line clients cannot learn of it and ask once. If one client is served at a
    time, they take turns."""
    each = 1 if dialect is LINE else 50 if design.serves == "one" else 0
    how = ("-c", str(CLIENTS), "--dialect", dialect.name, "--per-connection", str(each))
    with load(service.server.address, *how) as result:
        for number in range(times):
            wait_until_answered(service.server, requests)
            (service.restart if number % 2 else service.upgrade)()
        wait_until_answered(service.server, requests)
    print(f"{design.name}, {dialect.name}: {result['answered']} requests, {times} upgrades, 0 lost")
    assert set(result["errors"].values()) == {0}
    # Requests in flight at the end are counted by the server only.
    assert result["answered"] >= (times + 1) * requests - CLIENTS


# How many requests a client has had answered before the stop, how much of the next it has sent, and
# how many it completes afterwards. The HTTP request divides the server's buffer, which then ends
# between two requests.
AFTER_A_STOP = {
    "first": (0, 0, 1),
    "once more": (1, 0, 1),
    "a pipeline": (1, 0, 200),
    "the rest of one": (0, 5, 1),
}
PADDING = b"\r\nX: 12345678901234567\r\n\r\n"


def stop_and_go_on(
    server: RunningServer, connection: socket.socket, asked: bytes, *, waits: int = 0
) -> tuple[bytes, bytes] | None:
    """What the server, once it has noticed the stop, answers at once, of so many bytes at most, and
    then. None: the machine was too slow for the grace period."""
    wait_until_asleep(server.process.pid)
    server.process.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    wait_until_asleep(server.process.pid)
    connection.sendall(asked)
    at_once = connection.recv(waits) if waits else b""
    if waits:
        with contextlib.suppress(ConnectionError):
            connection.sendall(LINE.request(3))
    took_s = time.monotonic() - begun
    rest = read_all(connection)
    return (at_once, rest) if took_s < GRACE_S / 2 else None


@pytest.mark.parametrize("case", AFTER_A_STOP)
def test_a_connected_client_may_ask_after_a_stop(start: Start, dialect: Dialect, case: str) -> None:
    """Whether or not it has asked before. In HTTP the last reply announces the close."""
    request = dialect.request(3)
    if dialect is HTTP:
        request = request.replace(b"\r\n\r\n", PADDING)
        assert 1024 % len(request) == 0
    answered, begun, count = AFTER_A_STOP[case]
    found = None
    while found is None:
        server = start("--work", "snapshot")
        with server.connect() as connection:
            connection.sendall(request * answered + request[:begun])
            if answered:
                dialect.read_answer(connection)
            found = stop_and_go_on(server, connection, (request * count)[begun:])
        server.stop()
    assert [len(rows) for rows in dialect.answers(found[1])] == [3] * count
    if dialect is HTTP:
        assert parse_replies(found[1])[-1].headers["connection"] == "close"


def test_a_client_may_send_its_token_and_a_request_after_a_stop(
    start: Start, tmp_path: Path
) -> None:
    """A line client may wait for the reply to its token before it asks."""
    token = token_file(tmp_path)
    found = None
    while found is None:
        server = start("--work", "snapshot", "--token-file", str(token))
        with server.connect() as connection:
            found = stop_and_go_on(server, connection, b"auth " + token.read_bytes(), waits=100)
        server.stop()
    assert found[0] == b"ok\n\n"
    assert [len(rows) for rows in LINE.answers(found[1])] == [3]


@pytest.mark.parametrize("neighbour", ["epoll", "iterative"])
def test_two_servers_on_one_listener_do_not_disturb_each_other(
    service: Service, neighbour: str
) -> None:
    """One may block in accept, the other must not: neither hangs, and neither spins."""
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


def test_the_new_server_applies_its_own_listener_options(tmp_path: Path) -> None:
    """The old one left idle clients in the kernel (--defer-accept)."""
    with contextlib.ExitStack() as stack:
        service = Service(stack, tmp_path, "--defer-accept")
        new = service.start()
        service.server.stop()
        with new.connect():
            assert new.stop()["connections"] == 1
