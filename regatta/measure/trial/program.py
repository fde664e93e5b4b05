"""A side's program, with or without perf: start, messages, end; and the error in what a dying one
printed.

Every wait is for an event and has a deadline; none is a fixed sleep.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from regatta.errors import TrialError
from regatta.measure.accounts.cgroup import ControlGroup
from regatta.measure.accounts.disturbance import adopted
from regatta.measure.network.ports import listening_at
from regatta.measure.perf import Perf
from regatta.measure.places.side import (
    LINE_LIMIT,
    Channel,
    ProgramSpec,
    RunningProgram,
    SidePlacement,
    StartedProgram,
    read_line,
    readable,
)
from regatta.measure.trial.idle_wait import away_from
from regatta.record.counters import SWITCHED_OFF, Counter
from regatta.record.perf_output import read_counters

# A runtime prints the error before the stack (Java, Node.js, Go, Rust, .NET, Ruby) or after it
# (Python), and often more lines at the end.

PYTHON_STACK = re.compile(r'Traceback \(most recent call last\):|  File ".*", line \d+')
FRAME = re.compile(r"\s+(at|from) \S")
"""Java, .NET and Node.js; Ruby."""
PANIC = re.compile(r"(panic|fatal error): |\*\* \(")
"""Go; Elixir."""
RUST_PANIC = re.compile(r"thread '.*' (\(\d+\) )?panicked at ")


def error_line(lines: Sequence[str]) -> str | None:
    """The error of the last stack in these lines, whose indentation is kept; None: no stack."""

    def last(pattern: re.Pattern[str]) -> int | None:
        return next((at for at in reversed(range(len(lines))) if pattern.match(lines[at])), None)

    # Rust's frames look like Java's. Since Rust 1.73 the message is on the next line.
    if (at := last(RUST_PANIC)) is not None:
        return " ".join(lines[at : at + 1 + lines[at].endswith(":")]).strip()
    if (at := last(PANIC)) is not None:
        return lines[at].strip()
    outer = [at for at, line in enumerate(lines) if line and not line[0].isspace()]
    stack, frame = last(PYTHON_STACK), last(FRAME)
    after = [at for at in outer if stack is not None and at > stack][:1]
    before = [at for at in outer if frame is not None and at < frame][-1:]
    return lines[max(after + before)].strip() if after or before else None


READY_TIMEOUT_S = 20
READY_POLL_S = 0.005
STOP_TIMEOUT_S = 20
POLL_MS = 20
OUTPUT_LIMIT = 4096
STACK_LIMIT = 65536
QUOTED_LINES = 3
# perf's messages about its own switching, on the same stream.
PERF_CHATTER = ("Events disabled", "Events enabled")


class SideProgram:
    """The base of Side; `leave` kills whatever still runs."""

    def __init__(self, where: SidePlacement, name: str, folder: Path, /, **counted: Any) -> None:
        """`counted`: see ProgramSpec's `accounted`, `weighed`, `whole` and `counts_taskset`."""
        self.where = where
        self.name = name
        self.folder = folder
        self.spec = ProgramSpec(name, folder, **counted)
        self.started: StartedProgram | None = None
        self.channel: Channel | None = None
        self.away = ExitStack()
        """Restores this thread's CPU affinity."""
        self.patience_s: float = READY_TIMEOUT_S
        """For a server that does not signal that it is ready."""
        self.pid: int | None = None
        self.pidfd: int | None = None
        self.has_left = False
        self.adopted: set[int] = set()
        """Processes that others have started."""
        # The streams that an error message quotes; our client's stdout holds its JSON.
        self.output_streams: Sequence[str] = ("stderr",)

    def leave(self) -> None:
        """A second call does nothing: the numbers of its process and descriptors are reused."""
        if self.has_left:
            return
        self.has_left = True
        self.kill()
        self.hang_up()
        adopted.difference_update(self.adopted)
        if self.started is not None:
            self.started.close()
        if self.pidfd is not None:
            os.close(self.pidfd)

    @property
    def running(self) -> StartedProgram:
        assert self.started
        return self.started

    def start(  # noqa: PLR0913, PLR0917  (all that a program is started with)
        self,
        program: Sequence[str],
        perf: Perf,
        wanted: Sequence[str],
        channel_option: str | None = None,
        environment: Mapping[str, str] | None = None,
        image: str | None = None,
        off_cpus: Sequence[int] = (),
    ) -> None:
        """Starts the program, with perf if events are wanted.

        `channel_option`: the option that gives the program its end of the channel; `environment`:
        added to the lab's; `image`: its container image, if any; `off_cpus`: CPUs that perf and
        this thread avoid until the window is closed.
        """
        if channel_option is not None:
            self.channel = self.where.channel(self.folder, self.name)
            program = [*program, channel_option, str(self.channel.number)]
        self.spec = replace(
            self.spec,
            program=program,
            perf=perf,
            wanted=wanted,
            channel=self.channel,
            environment=environment or {},
            image=image,
        )
        self.away.enter_context(away_from(off_cpus))
        self.started = self.where.start(self.spec)

    def attach(self, pid: int | None, group: ControlGroup | None) -> None:
        """Instead of a start: it runs already. `pid`: None if nothing of it can be read."""
        self.started = RunningProgram(group)
        self.pid = pid
        self.pidfd = None if pid is None else os.pidfd_open(pid)
        self.adopted = (
            set(group.pids()) if group is not None else {pid} if pid is not None else set()
        )
        adopted.update(self.adopted)

    def ready(self) -> str:
        """Waits until the program reports `ready`; returns the rest of that line."""
        word, _, more = self.read_line(READY_TIMEOUT_S, "ready").partition(" ")
        if word != "ready":
            raise self.failure(f"the {self.name} wrote something other than `ready`")
        self.find_program()
        return more

    def wait_listening(self, network: int | str, port: int) -> None:
        """Waits until connections to this port of a network are accepted."""
        self.poll_ready(lambda: bool(listening_at(network, port)))

    def wait_printed(self, pattern: re.Pattern[str]) -> None:
        """Waits until the program prints a line that matches."""
        outputs = [self.folder / f"{self.name}.{stream}" for stream in ("stdout", "stderr")]

        def line_is_there() -> bool:
            lines = [
                line for path in outputs for line in path.read_text(errors="replace").split("\n")
            ]
            return any(pattern.search(line) for line in lines)

        self.poll_ready(line_is_there)

    def poll_ready(self, is_ready: Callable[[], bool]) -> None:
        """Polls, as other servers do not signal that they are ready; watches for their exit."""
        deadline = time.monotonic() + self.patience_s
        pidfd = os.pidfd_open(self.running.process.pid)
        try:
            while not is_ready():
                if readable(pidfd, time.monotonic() + READY_POLL_S):
                    raise self.failure(f"the {self.name} exited before it was ready")
                if time.monotonic() > deadline:
                    raise self.failure(
                        f"the {self.name} was not ready within {self.patience_s:g} s"
                    )
        finally:
            os.close(pidfd)
        self.find_program()

    def find_program(self) -> int:
        """Finds the process id of the program itself, once it runs."""
        try:
            self.pid = self.running.find()
        except LookupError as error:
            raise self.failure(f"the {self.name} {error}") from error
        self.pidfd = os.pidfd_open(self.pid)
        return self.pid

    def read_line(self, timeout_s: float, what: str) -> str:
        """One line that the program sends over the channel."""
        assert self.channel
        deadline = time.monotonic() + timeout_s
        try:
            connected = self.channel.wait_connected(deadline, self.running.process.pid)
            line = read_line(connected.fileno(), deadline)
        except TimeoutError as error:
            raise self.failure(f"the {self.name} was not {what} within {timeout_s:g} s") from error
        except OverflowError as error:
            raise self.failure(
                f"the {self.name} wrote a line of more than {LINE_LIMIT} bytes"
            ) from error
        except (EOFError, ConnectionResetError) as error:
            self.running.settle()
            raise self.failure(f"the {self.name} exited before it was {what}") from error
        return line.decode(errors="replace").strip()

    def say(self, word: str) -> None:
        assert self.channel
        try:
            self.channel.say(word)
        except BrokenPipeError as error:
            raise self.failure(f"the {self.name} exited before it got `{word}`") from error

    def hang_up(self) -> None:
        if self.channel is not None:
            self.channel.close()

    def wait(self, timeout_s: float) -> int:
        """Waits for the program's end and returns its exit status."""
        deadline = time.monotonic() + timeout_s
        process_fd = os.pidfd_open(self.running.process.pid)
        try:
            if self.pidfd is not None and not readable(self.pidfd, deadline):
                raise self.failure(f"the {self.name} did not end within {timeout_s:g} s")
            while not readable(process_fd, min(deadline, time.monotonic() + POLL_MS / 1000)):
                if time.monotonic() > deadline:
                    raise self.failure(f"the {self.name} did not end within {timeout_s:g} s")
                if self.pidfd is not None:
                    self.running.nudge()
        finally:
            os.close(process_fd)
        status = self.running.process.wait()
        self.running.finish()
        return status

    def ended(self, within_s: float = 0.0) -> bool:
        """Whether the program has exited by itself, or does so within this time."""
        return self.pidfd is not None and readable(self.pidfd, time.monotonic() + within_s)

    def stop(self, by: signal.Signals = signal.SIGTERM, may_die: bool = False) -> None:
        """Sends the signal; the program must drain and exit with status 0.

        `may_die`: it may also be killed by the signal.
        """
        if self.ended():
            raise self.failure(f"the {self.name} exited before it was stopped")
        if not self.running.is_ours:
            return
        assert self.pidfd is not None
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
        if self.pidfd is not None and self.started.is_ours:
            readable(self.pidfd, time.monotonic() + STOP_TIMEOUT_S)

    def counters(self) -> list[Counter]:
        """perf's counters, after the program's end; without perf each has a state that says so."""
        found = read_counters(self.printed(), self.spec.wanted)
        if self.running.counting or not self.spec.perf.is_off:
            return found
        return [replace(counter, state=SWITCHED_OFF) for counter in found]

    def printed(self) -> str:
        """perf's output, after the program's end; empty if it did not count."""
        if not self.running.counting:
            return ""
        try:
            return (self.folder / f"{self.name}.perf").read_text(errors="replace")
        except OSError as error:
            raise self.failure(f"perf wrote no counters of the {self.name}") from error

    def stdout(self) -> str:
        return (self.folder / f"{self.name}.stdout").read_text(errors="replace")

    def put(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def file(self, name: str) -> bytes | None:
        """A file that the program wrote; None if it does not exist."""
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def last_output(self) -> list[str]:
        """The last lines that the program printed, in order of `output_streams`."""
        lines = [line.strip() for line in self.output_lines(OUTPUT_LIMIT)]
        return [line for line in lines if line and line not in PERF_CHATTER]

    def output_lines(self, limit: int) -> list[str]:
        """The lines in the last bytes of each stream."""
        lines: list[str] = []
        for stream in self.output_streams:
            with suppress(OSError):
                data = (self.folder / f"{self.name}.{stream}").read_bytes()[-limit:]
                lines += data.decode(errors="replace").splitlines()
        return lines

    def contends(self, patience_s: float | None) -> None:
        """Its program is not ours: errors quote its stdout too; `patience_s`: its time to start."""
        self.output_streams = ("stderr", "stdout")
        self.patience_s = patience_s or self.patience_s

    def failure(self, what: str) -> TrialError:
        """An error that quotes the program's error or last lines, or says why it has none."""
        error = error_line(self.output_lines(STACK_LIMIT))
        output = [error] if error else self.last_output()[-QUOTED_LINES:]
        if not output and is_full(self.folder):
            output = [f"no space is left for its files in {self.folder}"]
        return TrialError(f"{what}: {' | '.join(output)}" if output else what)


def is_full(folder: Path) -> bool:
    with suppress(OSError):
        return os.statvfs(folder).f_bavail == 0
    return False
