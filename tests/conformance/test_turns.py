"""Turns: what one client asks for does not keep others from their answers."""

import contextlib
import re
import socket
from pathlib import Path

import pytest

from tests.conformance.pipelining import HELD_LONG, REQUEST, ROWS
from tests.processes import sleepers, stopped
from tests.servers import ListedDesign, RunningServer, Start, ask_over, built, read_reply, running
from tests.sockets import wait_until_arrived

AT_ONCE = 16
"""Short requests that one client may have answered in a turn."""


def test_long_requests_that_one_client_sends_together_do_not_all_come_before_anothers(
    start: Start, design: ListedDesign
) -> None:
    if design.serves == "one":
        pytest.skip("it serves one client to the end")
    one_loop = design.workers(1) if design.serves == "all" else ()
    server = start("--work", "wait=50ms", *one_loop)
    with server.crowd(3) as (one, greedy, another):
        for each in (one, greedy, another):
            ask_over(each)
        with stopped(server.process.pid):
            for each, asked in ((one, 1), (greedy, AT_ONCE), (another, 1)):
                each.sendall(b"top 1\n" * asked)
                wait_until_arrived(each)
        for each in (one, another):  # whoever of the two is found ready after the greedy one
            assert read_reply(each).startswith(b"rank")
        greedy.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            assert greedy.recv(1 << 20).count(b"\n\n") < AT_ONCE


GREEDY = 20
COMPUTES = ("--work", "spin=300us", "--max-age", "86400000")
"""Some three such requests fit into a turn."""


def test_many_who_send_requests_together_have_one_turn_between_them(
    tmp_path: Path, design: ListedDesign
) -> None:
    """Some are found ready twice before others: after three requests each at most, these come."""
    if design.serves != "all" or design.name.endswith("-per-client"):
        pytest.skip("the kernel shares its CPU between clients")
    said = ("--verbose", "--design", design.name, *design.workers(1))
    with running(tmp_path, *said, *COMPUTES) as server:
        with server.crowd(GREEDY + 2) as crowd:
            for each in crowd:
                ask_over(each)
            with stopped(server.process.pid):
                for each in crowd:
                    each.sendall(b"top 1\n" * (1 if each in (crowd[0], crowd[-1]) else AT_ONCE))
                    wait_until_arrived(each)
            for each in (crowd[0], crowd[-1]):  # of the two, one is found ready after the greedy
                read_reply(each)
        server.process.terminate()
        printed = server.process.communicate()[0].decode()
        server.is_over = True
    answered = [int(number) for number in re.findall(r"client (\d+) .* answered 200", printed)]
    last = max(_second(answered, number) for number in (1, GREEDY + 2))
    before = sum(number not in (1, GREEDY + 2) for number in answered[:last]) - GREEDY
    assert before <= 3 * GREEDY


PROBES = 10


def test_who_asks_again_does_not_wait_for_all_who_sent_requests_together(
    tmp_path: Path, design: ListedDesign
) -> None:
    if design.serves != "all" or design.name.endswith("-per-client"):
        pytest.skip("the kernel shares its CPU between clients")
    if design.name == "epoll-workers":
        pytest.skip("its worker answers one request of each, in their order")
    with running(tmp_path, "--design", design.name, *design.workers(1), *COMPUTES) as server:
        assert _answered_before_another(server, 8 * AT_ONCE) < GREEDY


def test_what_replies_cost_the_kernel_is_part_of_the_turn(
    tmp_path: Path, design: ListedDesign
) -> None:
    """It needs 300 us here for whatever a ring tells it, as for the sending of large replies."""
    if not design.name.startswith("uring"):
        pytest.skip("each of its replies is sent before the next request is answered")
    said = ("--design", design.name, *design.workers(1), *HELD_LONG)
    slow = built("tests/conformance/slow-sends-server")
    with running(tmp_path, *said, binary=slow) as server:
        with sleepers(ROWS):
            server.ask(REQUEST)
        assert _answered_before_another(server, 100 * AT_ONCE, REQUEST) < 2 * GREEDY


def _answered_before_another(
    server: RunningServer, each_asks: int, request: bytes = b"top 1\n"
) -> int:
    """How many requests of GREEDY clients, who sent so many each, are answered before that of
    another who then asks: the fewest of several times, as more are answered until this is seen."""
    fewest, left = GREEDY * each_asks, GREEDY * each_asks
    with server.crowd(GREEDY + 1) as (one, *greedy):
        for each in (one, *greedy):
            ask_over(each)
        with stopped(server.process.pid):
            for each in greedy:
                each.sendall(request * each_asks)
                wait_until_arrived(each)
                each.setblocking(False)
        for _ in range(PROBES):
            with stopped(server.process.pid):
                left -= sum(map(_take_replies, greedy))
                one.sendall(b"top 1\n")
                wait_until_arrived(one)
            read_reply(one)
            with stopped(server.process.pid):
                answered = sum(map(_take_replies, greedy))
            left -= answered
            fewest = min(fewest, answered)
        assert left > 0, "nobody was greedy any more"
    return fewest


def _take_replies(connection: socket.socket) -> int:
    """Those that have arrived whole: an empty line ends each."""
    taken = bytearray()
    while True:
        try:
            taken += connection.recv(1 << 20)
        except BlockingIOError:
            return taken.count(b"\n\n")


def _second(answered: list[int], number: int) -> int:
    """Where the second answer to this client is; the first told that it is served."""
    return answered.index(number, answered.index(number) + 1)
