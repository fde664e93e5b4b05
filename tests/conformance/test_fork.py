"""fork-per-client: children that have served are not left behind; no child, no service."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers import RunningServer, Start, ask_over, is_refusal, needs, rows_of, running
from tests.users import NOBODYS, as_user
from tests.waiting import wait_until


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o777)  # whoever the server's user is
        yield lambda *prefix: stack.enter_context(
            running(folder, "--design", "fork-per-client", prefix=prefix)
        )


def await_no_child(server: RunningServer) -> None:
    """Not even a zombie."""
    pid = server.process.pid
    wait_until(lambda: not Path(f"/proc/{pid}/task/{pid}/children").read_text(), "one is left")


def test_children_that_have_served_are_reaped_although_nobody_comes(start: Start) -> None:
    server = start()
    for _ in range(10):
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
    await_no_child(server)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without processes")
def test_where_no_process_can_be_made_clients_are_told_so(start: Start) -> None:
    """The server and one child are allowed."""
    server = start(*as_user(NOBODYS), needs("prlimit"), "--nproc=2")
    with server.connect() as served:
        ask_over(served)
        assert is_refusal(server.ask(b""))
    await_no_child(server)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2
    assert server.stop()["errors"]["refused"] == 1
