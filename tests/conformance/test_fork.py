"""fork-per-client: children are reaped, and clients are refused when fork fails."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import RunningServer, Start, ask_over, is_refusal, needs, rows_of, starting
from tests.users import UNUSED_UID, as_user, world_writable
from tests.waiting import wait_until


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with starting(world_writable(tmp_path), "--design", "fork-per-client") as start_one:
        yield lambda *prefix: start_one(prefix=prefix)


def children(server: RunningServer) -> list[str]:
    """With zombies."""
    pid = server.process.pid
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def wait_until_childless(server: RunningServer) -> None:
    wait_until(lambda: not children(server), "a child is left")


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


def test_a_child_of_the_program_that_became_the_server_is_ignored(start: Start) -> None:
    """As are orphans given to a server that is process 1 of a container."""
    server = start("sh", "-c", 'sleep 1 & exec "$@"', "sh")
    with server.connect() as connection:
        ask_over(connection)
        wait_until(lambda: len(children(server)) == 1, "the other child is not reaped")
        ask_over(connection)
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
