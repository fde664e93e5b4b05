"""A side's program, with or without perf: its start, what it says, and its end.

Every wait has a deadline, and none is a sleep in the hope that something has happened.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from regatta.errors import TrialError
from regatta.ledger.counters import Counter
from regatta.machine.cgroup import ControlGroup
from regatta.machine.line import Line, readable
from regatta.machine.perf import Control, Perf
from regatta.machine.perf_output import Output as PerfOutput
from regatta.machine.perf_output import read_counters, select
from regatta.machine.ports import listens
from regatta.machine.side_placement import SidePlacement
from regatta.machine.started import Order, Started
from regatta.trial.rest import away_from

READY_TIMEOUT_S = 20
READY_POLL_S = 0.005
STOP_TIMEOUT_S = 20
POLL_MS = 20
LINE_LIMIT = 4096
OUTPUT_LIMIT = 4096
QUOTED_LINES = 3
# What perf says on the same stream about its own switching.
PERF_CHATTER = ("Events disabled", "Events enabled")


class SideProgram:
    """What side.py builds on. Whatever still runs when it is left is killed."""

    def __init__(  # noqa: PLR0913, PLR0917  (all that a side is, each with its usual value)
        self,
        where: SidePlacement,
        name: str,
        folder: Path,
        accounted: bool = False,
        whole: bool = False,
        counts_taskset: bool = False,
    ) -> None:
        """`accounted`: its CPU time will be read.

        `whole`: it is counted from exec to exit, not in a window; `counts_taskset`: and before it
        `taskset`, which pins it, as in `perf stat taskset -c 0 ./server`.
        """
        self.where = where
        self.name = name
        self.folder = folder
        self.accounted = accounted
        self.whole = whole
        self.counts_taskset = counts_taskset
        self.started: Started | None = None
        self.line: Line | None = None
        self.away = ExitStack()
        """Restores where this thread may run."""
        self.wanted: Sequence[str] = ()
        self.pid: int | None = None
        self.pidfd: int | None = None
        # What the failure of this side quotes; our client's stdout is for its JSON.
        self.output_streams: Sequence[str] = ("stderr",)

    def leave(self) -> None:
        self.kill()
        self.hang_up()
        if self.started is not None:
            self.started.close()
        if self.pidfd is not None:
            os.close(self.pidfd)

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """What the lab started: the program, or what runs it and ends with its status."""
        assert self.started
        return self.started.process

    @property
    def group(self) -> ControlGroup | None:
        return None if self.started is None else self.started.group

    @property
    def control(self) -> Control | None:
        return None if self.started is None else self.started.control

    @property
    def counting(self) -> bool:
        return self.started is not None and self.started.counting

    def start(  # noqa: PLR0913, PLR0917  (all that a started program is given)
        self,
        program: Sequence[str],
        perf: Perf,
        wanted: Sequence[str],
        speaks: str | None = None,
        environment: Mapping[str, str] | None = None,
        image: str | None = None,
        off_cpus: Sequence[int] = (),
    ) -> None:
        """Has its place start the program, with perf if events are wanted.

        `speaks`: the option that tells the program its end of a line to us; `environment`: beside
        the lab's own; `image`: that it comes in, where programs come in images; `off_cpus`: where
        neither perf nor this thread shall run until the window is closed.
        """
        self.wanted = wanted
        if speaks is not None:
            self.line = self.where.line(self.folder, self.name)
            program = [*program, speaks, str(self.line.number)]
        self.away.enter_context(away_from(off_cpus))
        self.started = self.where.start(
            Order(
                name=self.name,
                folder=self.folder,
                program=program,
                perf=perf,
                wanted=wanted,
                accounted=self.accounted,
                whole=self.whole,
                counts_taskset=self.counts_taskset,
                line=self.line,
                environment=environment or {},
                image=image,
            )
        )

    def ready(self) -> str:
        """Waits until the program says that it is; returns what else it says."""
        word, _, more = self.read_line(READY_TIMEOUT_S, "ready").partition(" ")
        if word != "ready":
            raise self.failure(f"the {self.name} wrote something other than `ready`")
        self.find_program()
        return more

    def wait_listening(self, network: int | str, port: int) -> None:
        """Until connections to this port of a network are accepted."""
        self.poll_ready(lambda: listens(network, port))

    def wait_printed(self, pattern: re.Pattern[str]) -> None:
        """Until it prints such a line."""
        outputs = [self.folder / f"{self.name}.{stream}" for stream in ("stdout", "stderr")]

        def line_is_there() -> bool:
            lines = [
                line for path in outputs for line in path.read_text(errors="replace").split("\n")
            ]
            return any(pattern.search(line) for line in lines)

        self.poll_ready(line_is_there)

    def poll_ready(self, is_ready: Callable[[], bool]) -> None:
        """Nothing tells us when somebody else's server is ready; only its exit wakes us."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        pidfd = os.pidfd_open(self.process.pid)
        try:
            while not is_ready():
                if readable(pidfd, time.monotonic() + READY_POLL_S):
                    raise self.failure(f"the {self.name} exited before it was ready")
                if time.monotonic() > deadline:
                    raise self.failure(
                        f"the {self.name} was not ready within {READY_TIMEOUT_S:g} s"
                    )
        finally:
            os.close(pidfd)
        self.find_program()

    def find_program(self) -> int:
        """The process id of the program itself, once it runs."""
        assert self.started
        try:
            self.pid = self.started.find()
        except LookupError as error:
            raise self.failure(f"the {self.name} {error}") from error
        self.pidfd = os.pidfd_open(self.pid)
        return self.pid

    def read_line(self, timeout_s: float, what: str) -> str:
        """One line that the program writes."""
        assert self.started
        assert self.line
        deadline = time.monotonic() + timeout_s
        received = b""
        try:
            fd = self.line.answered(deadline, self.process.pid).fileno()
            while not received.endswith(b"\n"):
                if not readable(fd, deadline):
                    raise TimeoutError
                piece = os.read(fd, LINE_LIMIT)
                if not piece:
                    raise EOFError
                received += piece
                if len(received) > LINE_LIMIT:
                    raise self.failure(f"the {self.name} wrote too long a line")
        except TimeoutError as error:
            raise self.failure(f"the {self.name} was not {what} within {timeout_s:g} s") from error
        except (EOFError, ConnectionResetError) as error:
            self.started.settle()
            raise self.failure(f"the {self.name} exited before it was {what}") from error
        return received.decode(errors="replace").strip()

    def say(self, word: str) -> None:
        """To a program that has spoken."""
        assert self.line
        try:
            self.line.say(word)
        except BrokenPipeError as error:
            raise self.failure(f"the {self.name} exited before it was told to {word}") from error

    def hang_up(self) -> None:
        if self.line is not None:
            self.line.close()

    def wait(self, timeout_s: float) -> int:
        """Waits for the end and returns the exit status."""
        assert self.started
        deadline = time.monotonic() + timeout_s
        process_fd = os.pidfd_open(self.process.pid)
        try:
            if self.pidfd is not None and not readable(self.pidfd, deadline):
                raise self.failure(f"the {self.name} did not end within {timeout_s:g} s")
            while not readable(process_fd, min(deadline, time.monotonic() + POLL_MS / 1000)):
                if time.monotonic() > deadline:
                    raise self.failure(f"the {self.name} did not end within {timeout_s:g} s")
                if self.pidfd is not None:
                    self.started.nudge()
        finally:
            os.close(process_fd)
        status = self.process.wait()
        self.started.finish()
        return status

    def ended(self, within_s: float = 0.0) -> bool:
        """True if the program has exited by itself, or does so within this time."""
        return self.pidfd is not None and readable(self.pidfd, time.monotonic() + within_s)

    def stop(self, by: signal.Signals = signal.SIGTERM, may_die: bool = False) -> None:
        """Asks the program to stop, as a person would; it must drain and exit with status 0.

        `may_die`: dying by the signal is fine too.
        """
        assert self.pidfd is not None
        if self.ended():
            raise self.failure(f"the {self.name} exited before it was told to")
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, by)
        status = self.wait(STOP_TIMEOUT_S)
        # A shell reports a child's death by a signal as 128 + the signal.
        if status != 0 and not (may_die and status in (-by, 128 + by)):
            raise self.failure(f"the {self.name} exited with status {status}")

    def kill(self) -> None:
        """Kills whatever is left of it and waits until it is gone."""
        self.away.close()
        if self.started is None:
            return
        self.started.kill()
        if self.pidfd is not None:
            readable(self.pidfd, time.monotonic() + STOP_TIMEOUT_S)

    def counters(self) -> list[Counter]:
        """What perf counted; to be called after the end. Without perf each is `not supported`."""
        if self.counting:
            return read_counters(self.printed(), self.wanted)
        return select(tuple(self.wanted), PerfOutput((), ()))

    def printed(self) -> str:
        """What perf printed, if it counted; to be called after the end."""
        if not self.counting:
            return ""
        try:
            return (self.folder / f"{self.name}.perf").read_text(errors="replace")
        except OSError as error:
            raise self.failure(f"perf wrote no counters of the {self.name}") from error

    def stdout(self) -> str:
        return (self.folder / f"{self.name}.stdout").read_text(errors="replace")

    def file(self, name: str) -> bytes | None:
        """That it was told to write; None if it has not."""
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def last_output(self) -> list[str]:
        """The last lines that the program printed, stderr before stdout."""
        lines: list[str] = []
        for stream in self.output_streams:
            try:
                data = (self.folder / f"{self.name}.{stream}").read_bytes()[-OUTPUT_LIMIT:]
            except OSError:
                continue
            lines += [line.strip() for line in data.decode(errors="replace").splitlines()]
        return [line for line in lines if line and line not in PERF_CHATTER]

    def shows(self, streams: Sequence[str]) -> None:
        """What of its output tells why it failed."""
        self.output_streams = streams

    def failure(self, what: str) -> TrialError:
        """An error that ends with the program's last words."""
        output = self.last_output()[-QUOTED_LINES:]
        return TrialError(f"{what}: {' | '.join(output)}" if output else what)
