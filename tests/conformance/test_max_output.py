"""--max-output limits the memory of unread replies, over all processes together."""

import contextlib
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.dialects import HTTP, LINE
from tests.processes import children, kill_all
from tests.servers import ListedDesign, RunningServer, Start, running, table
from tests.waiting import wait_until

SLOW = 100
LARGE = b"GET /top?n=64&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"
FORKING = [
    row for row in table() if row.name.startswith("prefork-") or row.name == "fork-per-client"
]


def options(design: ListedDesign) -> tuple[str, ...]:
    # Of loops in processes each has its part of the limit, and the kernel chooses who serves whom.
    workers = ("--workers", "1") if design.name == "prefork-epoll" else design.serving(SLOW + 2)
    return ("--max-output", "1", "--work", "snapshot", *workers)


@contextlib.contextmanager
def spent_by_slow_clients(server: RunningServer) -> Iterator[contextlib.ExitStack]:
    """Clients ask for large replies and read nothing, until requests are refused. They leave when
    the stack is closed."""
    with contextlib.ExitStack() as stack:
        for _ in range(SLOW):
            slow = stack.enter_context(server.connect(receive_buffer=1))
            slow.sendall(16 * LARGE)
        wait_until(
            lambda: server.ask(HTTP.request(2)).startswith(b"HTTP/1.1 503 "),
            "no request is refused",
        )
        yield stack


def wait_until_answered(server: RunningServer) -> None:
    wait_until(
        lambda: server.ask(LINE.request(2)).startswith(b"rank"), "requests are still refused"
    )


@pytest.mark.usefixtures("many_processes")
def test_requests_are_refused_while_unread_replies_fill_the_limit(
    start: Start, design: ListedDesign, small_buffers: Callable[[], socket.socket]
) -> None:
    if design.serves == "one":
        pytest.skip("it serves one client at a time")
    server = start(*options(design), listener=small_buffers())
    with server.connect() as served:
        served.sendall(LINE.request(2))
        assert len(LINE.read_answer(served)) == 2
        with spent_by_slow_clients(server) as slow:
            assert server.ask(b"top 2\ntop 2\n").count(LINE.ending + b"too many replies wait") == 2
            assert server.ask(b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")
            assert server.ask(b"GET /nothing HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 404 ")
            slow.close()
            wait_until_answered(server)
        served.sendall(LINE.request(2))
        assert len(LINE.read_answer(served)) == 2
    assert server.stop()["errors"]["unavailable"] >= 3


@pytest.mark.usefixtures("many_processes")
@pytest.mark.parametrize("forking", FORKING, ids=lambda design: design.name)
def test_the_replies_of_killed_processes_do_not_count(
    forking: ListedDesign, tmp_path: Path, small_buffers: Callable[[], socket.socket]
) -> None:
    inherited = {"listener": small_buffers()}
    with (
        running(tmp_path, "--design", forking.name, *options(forking), **inherited) as server,
        spent_by_slow_clients(server),
    ):
        kill_all(children(server.process.pid))
        wait_until_answered(server)
