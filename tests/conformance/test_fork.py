"""fork-per-client: children are reaped, and clients are refused when fork fails."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers import RunningServer, Start, ask_over, is_refusal, needs, rows_of, running
from tests.users import UNUSED_UID, as_user
from tests.waiting import wait_until


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o777)  # for any user of the server
        yield lambda *prefix: stack.enter_context(
            running(folder, "--design", "fork-per-client", prefix=prefix)
        )


def wait_until_childless(server: RunningServer) -> None:
    """Without even a zombie."""
    pid = server.process.pid
    wait_until(lambda: not Path(f"/proc/{pid}/task/{pid}/children").read_text(), "a child is left")


def test_children_are_reaped_without_waiting_for_the_next_client(start: Start) -> None:
    server = start()
    for _ in range(10):
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
    wait_until_childless(server)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without processes")
def test_clients_are_refused_when_fork_fails(start: Start) -> None:
    """The process limit allows the server and one child."""
    server = start(*as_user(UNUSED_UID), needs("prlimit"), "--nproc=2")
    with server.connect() as served:
        ask_over(served)
        assert is_refusal(server.ask(b""))
    wait_until_childless(server)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2
    assert server.stop()["errors"]["refused"] == 1
