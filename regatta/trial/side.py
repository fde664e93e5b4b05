"""One side of a trial: a program in its place, with or without perf, and its end.

Every wait has a deadline, and none is a sleep in the hope that something has happened.
"""

from __future__ import annotations

import os
import select
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
from regatta.machine.guard import Warden, guard_environment, guarded
from regatta.machine.perf import Control, Perf
from regatta.machine.perf_output import read_counters
from regatta.machine.side_placement import SidePlacement
from regatta.trial.rest import Rest, wait_for_rest

READY_TIMEOUT_S = 20
STOP_TIMEOUT_S = 20
PERF_POLL_MS = 20
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
        self.counting = False
        self.warden: Warden | None = None
        self.group: ControlGroup | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.control: Control | None = None
        self.wanted: Sequence[str] = ()
        self.pid: int | None = None
        self.pidfd: int | None = None
        # What the failure of this side quotes; our client's stdout is for its JSON.
        self.output_streams: Sequence[str] = ("stderr",)

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        if self.control is not None:
            self.control.close()
        if self.warden is not None:
            self.warden.dismiss()
        if self.pidfd is not None:
            os.close(self.pidfd)
        if self.group is not None:
            self.group.close()

    def start(  # noqa: PLR0913, PLR0917  (all that a started program is given)
        self,
        where: SidePlacement,
        program: Sequence[str],
        perf: Perf,
        wanted: Sequence[str],
        keep_fd: int | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        """Starts the program; perf itself stays outside its place and off its CPUs.

        `extra`: for its environment.

        Outside a user namespace too: inside, perf believes it has rights that it lacks.
        A whole program is started by perf itself, inside the place, as by hand.
        """
        if not self.whole and (self.accounted or (wanted and perf.by_group)):
            self.group = where.make_group()
        if self.group is not None:
            program = self.group.entering(program)
        self.wanted = wanted
        follow = self.group.name if self.group is not None and perf.by_group else None
        stat = perf.command(self.name, wanted, follow, where.cpus) if wanted else None
        self.counting = stat is not None
        if self.whole:
            command = self.whole_command(where, program, perf)
        elif stat is None:
            command = where.command(program)
        else:
            self.control = Control(self.folder, self.name)
            command = guarded([*stat, *where.command(program)])
        with (
            (self.folder / f"{self.name}.stdout").open("wb") as stdout,
            (self.folder / f"{self.name}.stderr").open("wb") as stderr,
        ):
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=self.folder,
                env=guard_environment() | dict(extra or {}),
                pass_fds=() if keep_fd is None else (keep_fd,),
                # Ctrl-C is for the lab; and the whole side can be killed as one group.
                start_new_session=True,
            )
        if self.whole:
            self.warden = Warden(self.process.pid)

    def whole_command(self, where: SidePlacement, program: Sequence[str], perf: Perf) -> list[str]:
        """perf's place is between the guard and `taskset`, or after both."""
        counted = perf.whole_command(self.name, self.wanted)
        if self.counts_taskset:
            return where.entered([*counted, *where.pinned(program)])
        return where.command([*counted, *program])

    def find_program(self) -> int:
        """The process id of the program itself, perf's only child, once it runs."""
        assert self.process
        pid = self.process.pid
        if self.counting or self.whole:
            listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if len(listed) != 1:
                raise self.failure(f"the {self.name} was not found below perf")
            pid = int(listed[0])
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        return pid

    def accounts(self) -> accounting.TreeAccounts:
        """The kernel's accounts of the program and its descendants so far."""
        assert self.pid is not None
        return accounting.read(self.pid, self.group)

    def come_to_rest(self) -> Rest:
        """Waits, not for long, until none of its threads runs."""
        assert self.pid is not None
        return wait_for_rest(self.pid, self.group)

    def read_line(self, fd: int, timeout_s: float, what: str) -> str:
        """One line from a descriptor that the program writes to."""
        deadline = time.monotonic() + timeout_s
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        line = b""
        while not line.endswith(b"\n"):
            left_ms = (deadline - time.monotonic()) * 1000
            if left_ms <= 0 or not poll.poll(left_ms):
                raise self.failure(f"the {self.name} was not {what} within {timeout_s:g} s")
            piece = os.read(fd, LINE_LIMIT)
            if not piece:
                raise self.failure(f"the {self.name} exited before it was {what}")
            line += piece
            if len(line) > LINE_LIMIT:
                raise self.failure(f"the {self.name} wrote too long a line")
        return line.decode(errors="replace").strip()

    def wait(self, timeout_s: float) -> int:
        """Waits for the end and returns the exit status."""
        assert self.process
        deadline = time.monotonic() + timeout_s
        process_fd = os.pidfd_open(self.process.pid)
        try:
            if self.pidfd is not None and not readable(self.pidfd, deadline):
                raise self.failure(f"the {self.name} did not end within {timeout_s:g} s")
            # perf may miss its child's exit between looking and waiting; a message wakes it.
            while not readable(process_fd, min(deadline, time.monotonic() + PERF_POLL_MS / 1000)):
                if time.monotonic() > deadline:
                    raise self.failure(f"the {self.name} did not end within {timeout_s:g} s")
                if self.control is not None and self.pidfd is not None:
                    self.control.send("ping")
        finally:
            os.close(process_fd)
        return self.process.wait()

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
        if self.process is None:
            return
        # The group also holds what the program has forked, and outlives its leader.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
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


def readable(fd: int, deadline: float) -> bool:
    """Waits until the descriptor is readable (a process: has exited)."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
