"""deploy/hand-over: a shell script that passes its listener from server to server."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import children, state
from tests.servers import PASS_LISTENER, PATIENCE_S, REPOSITORY, RunningServer, program, rows_of
from tests.upgrading import load, wait_until_answered
from tests.waiting import wait_until

OPTIONS = ("--quiet", "--source", "procfs", "--no-recorder", "--work", "snapshot")


class HandOver:
    """The script, started with a symbolic link to the server that a test can redirect."""

    def __init__(self, listener: socket.socket, link: Path, target: Path) -> None:
        self.link = link
        self.relink(target)
        words = [str(REPOSITORY / "deploy" / "hand-over"), str(link), *OPTIONS]
        self.process = subprocess.Popen(
            ["bash", "-c", PASS_LISTENER, "bash", str(listener.fileno()), *words],
            pass_fds=[listener.fileno()],
            stderr=subprocess.PIPE,
            process_group=0,
        )
        host, port = listener.getsockname()
        self.server = RunningServer(self.process, f"{host}:{port}", link.with_suffix(".json"))

    def relink(self, target: Path) -> None:
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(target)

    def upgrade(self) -> None:
        before = children(self.process.pid)
        self.process.send_signal(signal.SIGUSR2)

        def is_done() -> bool:
            now = children(self.process.pid)
            return len(now) == 1 and now != before

        wait_until(is_done, "the old server is still running")

    def wait_until_held(self, begun: Path) -> None:
        """Waits until the script waits for the program that makes this file."""
        wait_until(begun.exists, "it is not started")
        wait_until(lambda: state(self.process.pid) == "S", "the script does not wait")

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S) == 0
        with pytest.raises(ConnectionRefusedError):
            self.server.connect()


@contextlib.contextmanager
def handing_over(folder: Path, target: Path) -> Iterator[HandOver]:
    folder.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        started = HandOver(listener, folder / "regatta-server", target)
    try:
        yield started
        started.end()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.process.pid, signal.SIGKILL)
        started.process.communicate()


@pytest.fixture
def hand_over(tmp_path: Path) -> Iterator[HandOver]:
    with handing_over(tmp_path, Path(program("regatta-server"))) as started:
        rows_of(started.server.ask(b"top 2\n"))
        yield started


Held = tuple[Path, Path]
"""A program that never finishes starting, and the file that it makes first."""


@pytest.fixture
def held(tmp_path: Path) -> Held:
    program, begun, gate = (tmp_path / name for name in ("held", "begun", "gate"))
    os.mkfifo(gate)
    program.write_text(f"#!/bin/sh\n: >{begun}\nread -r _ <{gate}\n")
    program.chmod(0o755)
    return program, begun


def test_upgrades_under_load_lose_no_request(hand_over: HandOver) -> None:
    with load(hand_over.server.address, "-c", "8", "--per-connection", "1") as result:
        for _ in range(3):
            wait_until_answered(hand_over.server, 300)
            hand_over.upgrade()
    assert set(result["errors"].values()) == {0}
    assert result["answered"] >= 900


def test_a_server_that_cannot_start_leaves_the_old_one_serving(
    hand_over: HandOver, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho cannot start >&2\nexit 1\n")
    broken.chmod(0o755)
    before = children(hand_over.process.pid)
    hand_over.relink(broken)
    hand_over.process.send_signal(signal.SIGUSR2)
    while b"cannot start" not in hand_over.process.stderr.readline():
        pass
    rows_of(hand_over.server.ask(b"top 2\n"))
    wait_until(
        lambda: children(hand_over.process.pid) == before, "the broken server is still running"
    )
    hand_over.relink(Path(program("regatta-server")))
    hand_over.upgrade()
    rows_of(hand_over.server.ask(b"top 2\n"))


def test_an_upgrade_replaces_a_server_that_is_still_starting(
    hand_over: HandOver, held: Held
) -> None:
    hand_over.relink(held[0])
    hand_over.process.send_signal(signal.SIGUSR2)
    hand_over.wait_until_held(held[1])
    hand_over.relink(Path(program("regatta-server")))
    hand_over.upgrade()
    rows_of(hand_over.server.ask(b"top 2\n"))


def test_a_stop_ends_a_server_that_is_still_starting(hand_over: HandOver, held: Held) -> None:
    hand_over.relink(held[0])
    hand_over.process.send_signal(signal.SIGUSR2)
    hand_over.wait_until_held(held[1])
    hand_over.end()


def test_a_stop_ends_the_first_server_while_it_starts(tmp_path: Path, held: Held) -> None:
    with handing_over(tmp_path, held[0]) as first:
        first.wait_until_held(held[1])
        first.end()
