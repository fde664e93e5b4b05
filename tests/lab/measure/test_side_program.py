"""The end of a side's program."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from regatta.measure.perf import Perf
from regatta.measure.places.side import SidePlacement, StartedProgram
from regatta.measure.trial.program import SideProgram
from tests.processes import is_gone
from tests.waiting import wait_until


class Ended(StartedProgram):
    def kill(self) -> None:
        pass


def readable_pipe() -> int:
    """The lowest free number; the other end is closed."""
    there, back = os.pipe()
    os.close(back)
    return there


def test_leaving_twice_does_not_touch_a_descriptor_that_is_new_since(tmp_path: Path) -> None:
    side = SideProgram(SidePlacement((), (0,)), "client", tmp_path)
    side.started, side.pidfd = Ended(), readable_pipe()
    side.leave()
    new = readable_pipe()
    assert new == side.pidfd
    side.leave()
    os.close(new)  # OSError if the side has closed it


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [(0, "it ended: no space is left for its files in {}"), (1, "it ended")],
)
def test_a_program_that_could_not_write_why_it_failed(
    blocks: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=blocks))
    side = SideProgram(SidePlacement((), (0,)), "client", tmp_path)
    assert str(side.failure("it ended")) == reason.format(tmp_path)


DAEMON = """
import os, time
if os.fork():
    time.sleep(600)
os.setsid()
open("daemon.pid", "w").write(str(os.getpid()) + "\\n")
time.sleep(600)
"""


def test_a_daemon_is_killed_with_its_program_also_without_control_groups(tmp_path: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    side = SideProgram(SidePlacement((), (cpu,)), "server", tmp_path)
    side.start([sys.executable, "-c", DAEMON], Perf(), ())
    written = tmp_path / "daemon.pid"
    wait_until(lambda: written.exists() and written.read_text().endswith("\n"), "no daemon")
    daemon = int(written.read_text())
    assert not is_gone(daemon)
    side.leave()
    wait_until(lambda: is_gone(daemon), "the daemon is still running")
