"""Fairness: greedy clients do not delay the replies of others for long, and no client keeps the
server busy while its request waits."""

import contextlib
import socket
from pathlib import Path

import psutil
import pytest

from tests.every_design import all_at_once
from tests.processes import stopped
from tests.servers import (
    ListedDesign,
    Start,
    ask_over,
    read_all,
    read_reply,
    running,
)
from tests.sockets import wait_until_arrived

WAITS_S, BUSY_S = 0.5, 0.1


def cpu_s(pid: int) -> float:
    """Of a process and its descendants, with those that have ended."""
    server = psutil.Process(pid)
    return sum(sum(each.cpu_times()[:4]) for each in (server, *server.children(recursive=True)))


def test_a_request_that_waits_takes_no_cpu(tmp_path: Path) -> None:
    """Although its client has ended its side, an event that lasts as long as the wait."""

    def check(design: ListedDesign, folder: Path) -> None:
        options = ("--design", design.name, "--work", f"wait={WAITS_S * 1000:.0f}ms")
        with running(folder, *options) as server, server.connect() as client:
            ask_over(client)
            before_s = cpu_s(server.process.pid)
            client.sendall(b"top 1\n")
            client.shutdown(socket.SHUT_WR)
            assert read_all(client).startswith(b"rank")
            assert cpu_s(server.process.pid) - before_s < BUSY_S

    all_at_once(check, tmp_path)


AT_ONCE = 16
"""Short requests of one client that are answered per iteration of the event loop."""


def test_pipelined_long_requests_are_not_allanswered_before_another_client(
    start: Start, design: ListedDesign
) -> None:
    if design.serves == "one":
        pytest.skip("it serves one client at a time")
    one_loop = design.workers(1) if design.serves == "all" else ()
    server = start("--work", "wait=50ms", *one_loop)
    with server.connect_many(3) as (first, greedy, another):
        for each in (first, greedy, another):
            ask_over(each)
        with stopped(server.process.pid):
            for each, asked in ((first, 1), (greedy, AT_ONCE), (another, 1)):
                each.sendall(b"top 1\n" * asked)
                wait_until_arrived(each)
        for each in (first, another):  # one of the two comes after the greedy one
            assert read_reply(each).startswith(b"rank")
        greedy.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            assert greedy.recv(1 << 20).count(b"\n\n") < AT_ONCE


GREEDY = 20
COMPUTES = ("--work", "spin=300us", "--max-age", "86400000")
"""About three such requests fit into one iteration."""
PROBES = 10


def test_a_new_request_does_not_wait_for_all_pipelined_ones(
    start: Start, design: ListedDesign
) -> None:
    """How many pipelined requests are answered before another client's. The minimum of several
    probes, because the probe itself takes time."""
    if design.serves != "all" or design.name.endswith("-per-client"):
        pytest.skip("the kernel schedules its clients")
    if design.name == "epoll-workers":
        pytest.skip("its worker answers one request of each client in turn")
    each_asks = 8 * AT_ONCE
    left, fewest = GREEDY * each_asks, GREEDY * each_asks
    server = start(*design.workers(1), *COMPUTES)
    with server.connect_many(GREEDY + 1) as (first, *greedy):
        for each in (first, *greedy):
            ask_over(each)
        with stopped(server.process.pid):
            for each in greedy:
                each.sendall(b"top 1\n" * each_asks)
                wait_until_arrived(each)
                each.setblocking(False)
        for _ in range(PROBES):
            with stopped(server.process.pid):
                left -= sum(map(take_replies, greedy))
                first.sendall(b"top 1\n")
                wait_until_arrived(first)
            read_reply(first)
            with stopped(server.process.pid):
                answered = sum(map(take_replies, greedy))
            left -= answered
            fewest = min(fewest, answered)
        assert left > 0, "all pipelined requests have been answered"
    assert fewest < GREEDY


def take_replies(connection: socket.socket) -> int:
    """Number of complete replies that have arrived."""
    taken = bytearray()
    while True:
        try:
            taken += connection.recv(1 << 20)
        except BlockingIOError:
            return taken.count(b"\n\n")
