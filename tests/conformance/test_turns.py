"""Turns: what one client asks for does not keep others from their answers."""

import contextlib
import re
from pathlib import Path

import pytest

from tests.processes import stopped
from tests.servers import ListedDesign, Start, ask_over, read_reply, running
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


def _second(answered: list[int], number: int) -> int:
    """Where the second answer to this client is; the first told that it is served."""
    return answered.index(number, answered.index(number) + 1)
