"""Turns: what one client asks for does not keep others from their answers."""

import contextlib

import pytest

from tests.processes import stopped
from tests.servers import ListedDesign, Start, ask_over, read_reply
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
