"""One side of a trial: a program in its place, with or without perf, and its end.

Every wait has a deadline, and none is a sleep in the hope that something has happened.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from regatta.errors import TrialError
from regatta.ledger.counters import Counter
from regatta.machine import accounting
from regatta.machine.cgroup import ControlGroup
from regatta.machine.line import Line, readable
from regatta.machine.perf import Control, Perf
from regatta.machine.perf_output import read_counters
from regatta.machine.side_placement import SidePlacement
from regatta.machine.started import Order, Started
from regatta.trial.rest import Rest, wait_for_rest

READY_TIMEOUT_S = 20
STOP_TIMEOUT_S = 20
POLL_MS = 20
LINE_LIMIT = 4096
OUTPUT_LIMIT = 4096
QUOTED_LINES = 3
# What perf says on the same stream about its own switching.
PERF_CHATTER = ("Events disabled", "Events enabled")


class Side:
    """A started program. Use it in a `with` statement: whatever still runs at the end is killed."""

    def __init__(  # noqa: PLR0913, PLR0917  (all that a side is, each with its usual value)
        self,
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
        self.name = name
        self.folder = folder
        self.accounted = accounted
        self.whole = whole
        self.counts_taskset = counts_taskset
        self.started: Started | None = None
        self.wanted: Sequence[str] = ()
        self.pid: int | None = None
        self.pidfd: int | None = None
        # What the failure of this side quotes; our client's stdout is for its JSON.
        self.output_streams: Sequence[str] = ("stderr",)

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
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
        where: SidePlacement,
        program: Sequence[str],
        perf: Perf,
        wanted: Sequence[str],
        line: Line | None = None,
        extra: Mapping[str, str] | None = None,
        image: str | None = None,
    ) -> None:
        """Has its place start the program, with perf if events are wanted.

        `extra`: for its environment; `image`: that it comes in, where programs come in images.
        """
        self.wanted = wanted
        self.started = where.start(
            Order(
                name=self.name,
                folder=self.folder,
                program=program,
                perf=perf,
                wanted=wanted,
                accounted=self.accounted,
                whole=self.whole,
                counts_taskset=self.counts_taskset,
                line=line,
                environment=extra or {},
                image=image,
            )
        )

    def find_program(self) -> int:
        """The process id of the program itself, once it runs."""
        assert self.started
        try:
            self.pid = self.started.find()
        except LookupError as error:
            raise self.failure(f"the {self.name} {error}") from error
        self.pidfd = os.pidfd_open(self.pid)
        return self.pid

    def accounts(self) -> accounting.TreeAccounts:
        """The kernel's accounts of the program and its descendants so far."""
        assert self.pid is not None
        return accounting.read(self.pid, self.group)

    def come_to_rest(self) -> Rest:
        """Waits, not for long, until none of its threads runs."""
        assert self.pid is not None
        return wait_for_rest(self.pid, self.group)

    def read_line(self, line: Line, timeout_s: float, what: str) -> str:
        """One line that the program writes."""
        assert self.started
        deadline = time.monotonic() + timeout_s
        received = b""
        try:
            fd = line.answered(deadline, self.process.pid).fileno()
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
        if self.started is None:
            return
        self.started.kill()
        if self.pidfd is not None:
            readable(self.pidfd, time.monotonic() + STOP_TIMEOUT_S)

    def counters(self) -> list[Counter]:
        """What perf counted; to be called after the end."""
        return read_counters(self.printed(), self.wanted) if self.counting else []

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

    def failure(self, what: str) -> TrialError:
        """An error that ends with the program's last words."""
        output = self.last_output()[-QUOTED_LINES:]
        return TrialError(f"{what}: {' | '.join(output)}" if output else what)
