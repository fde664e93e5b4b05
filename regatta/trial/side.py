"""One side of a trial: what a trial does on that side's own host, and what is read there.

Every reading is of this host alone: its /proc, its control groups, its perf. So a side lives where
its program runs; who calls it may be elsewhere, and what is counted in a window is read without a
word from there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from regatta.errors import TrialError
from regatta.ledger.counters import Counter
from regatta.machine import accounting, disturbance, resident
from regatta.machine.disturbance import Others
from regatta.machine.whole_cpu import BySide, WholeCpu
from regatta.trial.program import SideProgram
from regatta.trial.rest import Ends, Rest, away_from, wait_for_rest


@dataclass
class Meanwhile:
    """What happened on a host's CPUs while a window was open."""

    others: Others = field(default_factory=Others)
    """Who else took them."""
    cpus: BySide = field(default_factory=dict)
    """All that they did, by the side that they are for."""


@contextmanager
def watching(watch: WholeCpu) -> Iterator[Meanwhile]:
    """Of these CPUs; it is known after the block. The others' clocks are read outside it."""
    found = Meanwhile()
    cpus = tuple(sorted(set(watch.cpus)))
    if not cpus:
        yield found
        return
    before = disturbance.read_clocks(cpus, watch.client)
    with watch.account() as found.cpus:
        yield found
    after = disturbance.read_clocks(cpus, watch.client)
    found.others = disturbance.others_between(before, after, cpus)


@dataclass(frozen=True)
class Half:
    """One side's half of a window, once it is closed."""

    meanwhile: Meanwhile
    accounts: list[Counter]
    """The kernel's, of a program whose window is from rest to rest."""
    rest: Ends | None


class Side(SideProgram):
    """Use it in a `with` statement, which ends its program."""

    opened: ExitStack | None = None
    meanwhile = Meanwhile()
    opening: Rest | None = None
    before: accounting.TreeAccounts | None = None

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def open(self, watch: WholeCpu, rests: bool = False) -> None:
        """Opens the window here: from now on everything counts.

        `rests`: the program's account is of all that the load causes, so it is read when the
        program is at rest. One that is not at rest before has work of its own, inseparable from the
        load's: its account will be closed at once.
        """
        with ExitStack() as stack:
            stack.enter_context(away_from(watch.server))
            self.opening = self.come_to_rest() if rests else None
            self.meanwhile = stack.enter_context(watching(watch))
            self.before = self.accounts() if rests else None
            self.switch("enable")
            self.opened = stack.pop_all()

    def run(self, timeout_s: float, at_ns: int | None = None) -> int:
        """Has a client that is ready run its load; how long that took, in ns.

        `at_ns`: when it is to begin, by the clock of this host; None: at once.
        """
        start_ns = time.monotonic_ns() if at_ns is None else at_ns
        self.say("go" if at_ns is None else f"go {at_ns}")
        word = self.read_line(timeout_s, "done")
        length_ns = time.monotonic_ns() - start_ns
        if word != "done":
            raise self.failure(f"the {self.name} wrote something other than `done`")
        return length_ns

    def close(self) -> Half:
        """Closes the window."""
        assert self.opened
        closing = self.come_to_rest() if self.opening is not None and self.opening.found else None
        self.switch("disable")
        accounts: list[Counter] = []
        if self.before is not None:
            accounts = accounting.server_counters(self.before, self.accounts())
        self.opened.close()
        self.away.close()
        rest = None if self.opening is None else Ends(self.opening, closing)
        return Half(self.meanwhile, accounts, rest)

    def abandon(self) -> None:
        """Of a window that was cut off: this thread may run where it might before."""
        if self.opened is not None:
            self.opened.close()

    def give_up(self) -> None:
        """Ends a client that somebody waits for."""
        self.kill()

    def kill(self) -> None:
        self.abandon()
        super().kill()

    def switch(self, command: str) -> None:
        """The counters, if there are any: `enable` or `disable`."""
        if self.control is not None:
            self.control.send(command)
            self.control.wait()

    def come_to_rest(self) -> Rest:
        """Waits, not for long, until none of its threads runs."""
        assert self.pid is not None
        return wait_for_rest(self.pid, self.group)

    def accounts(self) -> accounting.TreeAccounts:
        """The kernel's accounts of the program and its descendants so far."""
        assert self.pid is not None
        return accounting.read(self.pid, self.group)

    def life(self) -> list[Counter]:
        """The same since it was begun."""
        return accounting.life_counters(self.accounts())

    def peak_memory(self) -> Counter:
        assert self.pid is not None
        return resident.peak_memory(self.pid)

    def check_pinned(self) -> None:
        """A program that pins its threads elsewhere ran on CPUs that are not its side's."""
        assert self.pid is not None
        for pid in accounting.descendants(self.pid):
            for tid in accounting.threads_of(pid):
                try:
                    strange = os.sched_getaffinity(tid) - set(self.where.cpus)
                except OSError:
                    continue
                if strange:
                    cpus = ",".join(map(str, sorted(strange)))
                    raise TrialError(
                        f"the {self.name}'s process {pid} may run on CPU {cpus}, which is not the "
                        f"{self.name}'s; let it keep the CPUs that it is started on"
                    )
