"""Run the two programs of this folder and parse their output."""

import contextlib
import functools
import os
import re
import select
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.commands import run
from tests.processes import state, threads
from tests.servers import PATIENCE_S, built, program
from tests.truth.proc import ProcessTimes
from tests.users import runnable_by_all

SOURCE_SCAN = built("tests/truth/source-scan")
LIVES = built("tests/truth/lives")
CANNOT_OPEN = 3


@functools.cache
def sources() -> tuple[str, ...]:
    """Every source of the server except `auto`, taken from its error message."""
    refused = run(program("regatta-server"), "--source", "?")
    listed = re.search(r"there are: (.*)", refused.stderr)
    assert listed, f"the error does not list the sources: {refused.stderr}"
    return tuple(name for name in listed[1].split(", ") if name != "auto")


CLASSIC = "classic"
"""The work without a source, which is tested like one."""


def options_of(source: str) -> tuple[str, str]:
    """Options of the server and of source-scan for this source."""
    return ("--work", CLASSIC) if source == CLASSIC else ("--source", source)


class CannotOpenError(Exception):
    """A source is not available here, with the reason."""


@dataclass(frozen=True)
class Scan:
    """One scan, in the order of the visits."""

    source: str
    processes: list[ProcessTimes]
    seen: int
    lost: int
    busy_ns: int

    def all_of(self, pid: int) -> list[ProcessTimes]:
        return [process for process in self.processes if process.pid == pid]

    def one(self, pid: int) -> ProcessTimes:
        """The process, which must be there exactly once."""
        (found,) = self.all_of(pid)
        return found

    def by_pid(self) -> dict[int, ProcessTimes]:
        found = {process.pid: process for process in self.processes}
        assert len(found) == len(self.processes), "a process is listed twice"
        return found


class Scanner:
    """A source that stays open for many scans, as in a server."""

    def __init__(self, running: subprocess.Popen[str]) -> None:
        self.pid = running.pid
        self._asks, self._answers = running.stdin, running.stdout
        opened = self._answers.readline().split(" ", 2)
        if opened[0] != "open":
            assert running.wait(PATIENCE_S) == CANNOT_OPEN, running.communicate()[1]
            raise CannotOpenError(running.stderr.read().strip())
        self.source, self.reason = opened[1], opened[2].strip()

    def scan(self) -> Scan:
        self._asks.write("\n")
        self._asks.flush()
        processes = []
        for line in self._answers:
            kind, *fields = line.rstrip("\n").split(" ")
            if kind == "process":
                pid, user, system, started = map(int, fields[:4])
                processes.append(ProcessTimes(pid, bytes.fromhex(fields[4]), user, system, started))
            else:
                assert fields[0] == "0", f"the scan failed with {fields[0]}"
                seen, lost, user, system = map(int, fields[2:])
                assert seen == len(processes)
                return Scan(fields[1], processes, seen, lost, user + system)
        raise AssertionError("the program ended")


@contextlib.contextmanager
def scanning(source: str, *options: str, prefix: Sequence[str] = ()) -> Iterator[Scanner]:
    """Raises CannotOpenError if the source is not available."""
    with subprocess.Popen(
        [
            *prefix,
            runnable_by_all(SOURCE_SCAN) if prefix else SOURCE_SCAN,
            *options_of(source),
            *options,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield Scanner(running)
            running.stdin.close()
            assert running.wait(PATIENCE_S) == 0
        finally:
            running.kill()


class Life:
    """A process with one of the behaviours of lives.c."""

    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        self.process = running
        self.pid = running.pid
        self._output = running.stdout

    def wait_until_ready(self) -> None:
        assert select.select([self._output], [], [], PATIENCE_S)[0], "it does not get ready"
        assert self._output.readline() == b"ready\n", "it failed; its message is above"

    def proceed(self, line: bytes = b"") -> None:
        """Sends a line to a process that waits for one."""
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def rename(self, name: bytes) -> None:
        """Of the life "named"."""
        self.proceed(name.hex().encode())
        self.wait_until_ready()

    def end(self) -> bytes:
        """The end of stdin; what it says last."""
        self.process.stdin.close()
        output = self._output.read()
        assert self.process.wait(PATIENCE_S) == 0
        return output


@contextlib.contextmanager
def living(*life: str, until_ready: bool = True) -> Iterator[Life]:
    """Runs such a process and kills it at the end."""
    with subprocess.Popen(
        [LIVES, *life], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as running:
        try:
            started = Life(running)
            if until_ready:
                started.wait_until_ready()
            yield started
        finally:
            running.kill()


@contextlib.contextmanager
def zombie(burnt_ms: int) -> Iterator[int]:
    """A process that has ended and is not reaped yet."""
    pid = os.posix_spawn(LIVES, [LIVES, "zombie", str(burnt_ms)], os.environ)
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        yield pid
    finally:
        with contextlib.suppress(ChildProcessError):  # the test may have reaped it
            os.waitpid(pid, 0)


def all_sleep(pid: int) -> bool:
    """Whether all its threads sleep, so that its times are constant."""
    return all(state(task) in ("S", "Z") for task in threads(pid))
