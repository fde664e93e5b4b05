"""--max-output: what the replies that nobody takes may hold in memory."""

import contextlib

import pytest

from tests.dialects import HTTP, LINE
from tests.given import giving
from tests.processes import children
from tests.servers import ListedDesign, Start
from tests.waiting import wait_until

SLOW = 100
LARGE = b"GET /top?n=64&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.usefixtures("many_processes")
def test_while_untaken_replies_have_used_up_their_memory_requests_are_told_so(
    start: Start, design: ListedDesign
) -> None:
    if design.serves == "one":
        pytest.skip("it holds the replies of one client at a time")
    options = ("--max-output", "1", "--work", "snapshot", *design.serving(SLOW + 2))
    server = start(*options, prefix=giving(send_buffer=1))
    with contextlib.ExitStack() as stack, server.connect() as served:
        served.sendall(LINE.request(2))
        assert len(LINE.read_answer(served)) == 2
        if children(server.process.pid):
            pytest.skip("each of its processes holds the replies of one client at a time")
        for _ in range(SLOW):
            slow = stack.enter_context(server.connect(receive_buffer=1))
            slow.sendall(16 * LARGE)
        wait_until(
            lambda: server.ask(HTTP.request(2)).startswith(b"HTTP/1.1 503 "), "nobody is told"
        )
        assert server.ask(b"top 2\ntop 2\n").count(LINE.ending + b"too many replies wait") == 2
        assert server.ask(b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert server.ask(b"GET /nothing HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 404 ")
        stack.close()
        wait_until(lambda: server.ask(LINE.request(2)).startswith(b"rank"), "it goes on")
        served.sendall(LINE.request(2))
        assert len(LINE.read_answer(served)) == 2
    assert server.stop()["errors"]["unavailable"] >= 3
