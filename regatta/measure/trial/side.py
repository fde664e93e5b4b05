"""One side of a trial: what is done and read on that side's host.

Every reading is local: /proc, control groups and perf of this host. So a Side object lives on the
host of its program, its caller may be on another, and nothing is sent between them within a window.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from types import MappingProxyType

from regatta.errors import RegattaError, TrialError
from regatta.measure.accounts import disturbance, energy, memory, process_tree
from regatta.measure.accounts.disturbance import Others
from regatta.measure.accounts.whole_cpu import WholeCpu
from regatta.measure.perf import Perf
from regatta.measure.trial.idle_wait import IdleWait, away_from, wait_until_idle
from regatta.measure.trial.merge import Window
from regatta.measure.trial.program import SideProgram
from regatta.measure.trial.recorders import Sampler, Tracer
from regatta.record.counters import (
    BYTES,
    COMPANIONS_TIME,
    CPU_TIME,
    NS,
    Counter,
    Counters,
    counted,
    keyed,
    not_supported,
)
from regatta.record.records import CPUS, KERNEL, SERVER

PREPARE_TIMEOUT_S = 120
WATCH_AHEAD_NS = 10_000_000
"""Long enough to read the clocks of a thousand processes before the common start."""


class Watch:
    """Watches CPUs; use it in a `with` statement. The result is filled in at its end.

    The clocks of other processes are read outside the window.
    """

    def __init__(self, cpus: WholeCpu) -> None:
        self.watched = cpus
        self.cpus = tuple(sorted(set(cpus.cpus)))
        self.others = Others()
        """CPU time that others took."""
        self.counters: Counters = {}
        """The busy time of each side's CPUs, and the host's energy."""
        self.before = disturbance.NEVER
        self.energy: list[Counter] = []
        self.account = ExitStack()

    def start(self) -> None:
        """Starts, or starts again: what happened before does not count."""
        self.account.close()
        if self.cpus:
            self.before = disturbance.read_clocks()
            # First, so that finding and reading its counters is in no account of the CPUs.
            self.energy = self.account.enter_context(energy.metering())
            self.counters = self.account.enter_context(self.watched.account())

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.account.close()
        if self.watched.server:
            self.counters |= keyed(SERVER, CPUS, self.energy)
        if self.cpus:
            after = disturbance.read_clocks()
            self.others = disturbance.others_between(
                self.before, after, self.cpus, self.watched.client
            )


class Side(SideProgram, AbstractContextManager["Side"]):
    """Use it in a `with` statement, which kills its program at the end."""

    opened: ExitStack | None = None
    watch: Watch | None = None
    opening: IdleWait | None = None
    before: process_tree.TreeAccounts | None = None
    recorder: Sampler | Tracer | None = None
    not_recorded: TrialError | None = None
    """Why the recorder gave up: that is no failure of the server."""
    companions: tuple[Side, ...] = ()
    before_of_companions: tuple[process_tree.TreeAccounts, ...] = ()
    teardown: Sequence[str] | None = None
    environment: Mapping[str, str] = MappingProxyType({})
    """Of what prepares it."""

    def __exit__(self, *_: object) -> None:
        self.leave()

    def open(self, watch: WholeCpu, rests: bool = False) -> None:
        """Opens the window on this host: from now on everything counts.

        `rests`: read the program's accounts when it is idle, so that they include all the work that
        the load causes. A program that is not idle before the load has work of its own that cannot
        be separated from it: then `close` does not wait either.
        """
        with ExitStack() as stack:
            stack.enter_context(away_from(watch.server))
            known = rests and self.pid is not None
            self.opening = self.wait_until_idle() if known else None
            self.watch = stack.enter_context(Watch(watch))
            self.before = self.accounts() if known else None
            self.before_of_companions = tuple(of.accounts() for of in self.companions)
            self.switch("enable")
            self.opened = stack.pop_all()

    def watch_from(self, at_ns: int) -> None:
        """Waits until shortly before a common start by this host's clock and watches from then.

        Until then the lab tells the clients, which is no part of the load. If that has taken too
        long, the watch goes on: to start it again would disturb the load.
        """
        assert self.watch
        early_ns = at_ns - time.monotonic_ns() - WATCH_AHEAD_NS
        if self.watch.cpus and early_ns > 0:
            time.sleep(early_ns / 1e9)
            self.watch.start()

    def run(self, timeout_s: float, at_ns: int | None = None) -> int:
        """Runs the load of a client that is ready; returns its duration in ns.

        `at_ns`: the start time by this host's clock; None: at once.
        """
        start_ns = time.monotonic_ns() if at_ns is None else at_ns
        self.say("go" if at_ns is None else f"go {at_ns}")
        if at_ns is not None:
            self.watch_from(at_ns)
        word = self.read_line(timeout_s, "done")
        length_ns = time.monotonic_ns() - start_ns
        if word != "done":
            raise self.failure(f"the {self.name} wrote something other than `done`")
        return length_ns

    def close(self) -> Window:
        """Closes the window; returns what was counted on this host."""
        assert self.opened
        assert self.watch
        closing = (
            self.wait_until_idle() if self.opening is not None and self.opening.found else None
        )
        self.switch("disable")
        counters: Counters = {}
        if self.before is not None:
            used = process_tree.server_counters(self.before, self.accounts())
            counters = keyed(SERVER, KERNEL, used)
        if self.companions:
            counters |= keyed(SERVER, KERNEL, [self.time_of_companions()])
        self.opened.close()
        self.away.close()
        watched = self.watch.counters
        if not self.is_on_its_cpus():
            watched = {key: counter for key, counter in watched.items() if key[0] != SERVER}
        return Window(
            counters=counters | watched,
            others=self.watch.others,
            rests=() if self.opening is None else ((self.opening, closing),),
        )

    def is_on_its_cpus(self) -> bool:
        """Else what these CPUs did says nothing of it: others started it, elsewhere."""
        if self.name != SERVER or self.running.is_ours:
            return True
        return self.pid is not None and os.sched_getaffinity(self.pid) <= set(self.where.cpus)

    def time_of_companions(self) -> Counter:
        used = (
            process_tree.server_counters(before, companion.accounts())
            for before, companion in zip(self.before_of_companions, self.companions, strict=True)
        )
        times = [counter.value or 0.0 for of in used for counter in of if counter.event == CPU_TIME]
        return counted(COMPANIONS_TIME, sum(times), NS)

    def abandon(self) -> None:
        """Gives up an open window and restores this thread's CPU affinity."""
        if self.opened is not None:
            self.opened.close()

    def give_up(self) -> None:
        """Kills a client that another thread waits for."""
        self.kill()

    def kill(self) -> None:
        self.abandon()
        if self.recorder is not None:
            self.recorder.close()
            self.recorder = None
        try:
            super().kill()
            with suppress(RegattaError, OSError):
                self.tear_down()
        finally:
            for companion in self.companions:
                companion.dismiss()

    def accompany(
        self,
        name: str,
        program: Sequence[str],
        environment: Mapping[str, str],
        listens: tuple[int | str, int],
        prints: re.Pattern[str] | None,
    ) -> None:
        """Starts a program beside it, on the same CPUs; waits until it listens at this port of a
        network, or prints such a line."""
        # Its files must not be those of a side.
        companion = Side(self.where, f"with-{name}", self.folder, accounted=True)
        self.companions += (companion,)
        companion.contends(self.patience_s)
        companion.start(program, Perf(), (), environment=environment)
        if prints is None:
            companion.wait_listening(*listens)
        else:
            companion.wait_printed(prints)

    def prepare(
        self,
        setup: Sequence[str] | None,
        teardown: Sequence[str] | None,
        environment: Mapping[str, str],
    ) -> None:
        """Runs `setup` now, and `teardown` once it has stopped, while its companions still run."""
        self.teardown, self.environment = teardown, environment
        self._run("setup", setup)

    def _run(self, name: str, program: Sequence[str] | None) -> None:
        if program is None:
            return
        with Side(self.where, name, self.folder) as side:
            side.contends(None)
            side.start(program, Perf(), (), environment=self.environment)
            if status := side.wait(PREPARE_TIMEOUT_S):
                raise side.failure(f"its {name} failed (exit status {status})")

    def stop(self, by: signal.Signals = signal.SIGTERM, may_die: bool = False) -> None:
        """Its companions stop after it and its teardown."""
        super().stop(by, may_die)
        self.tear_down()
        for companion in self.companions:
            if companion.ended():
                raise companion.failure(f"{companion.name} exited before the server was stopped")
            companion.dismiss()

    def dismiss(self) -> None:
        """Ends a companion in order, so that what it keeps in files serves its next start; how it
        ends says nothing of the server."""
        try:
            with suppress(TrialError, OSError):
                if self.started is not None and not self.has_left:
                    if self.pid is None:
                        self.find_program()
                    self.stop(may_die=True)
        finally:
            self.leave()

    def tear_down(self) -> None:
        """Once."""
        teardown, self.teardown = self.teardown, None
        self._run("teardown", teardown)

    def sample(self, perf: str) -> None:
        """From now on its CPUs are sampled in each window."""
        if self.recorder is None:
            self.recorder = Sampler(perf, self.folder, self.name, self.where.cpus)

    def trace(self, program: Path, port: str, cpus: Sequence[int]) -> None:
        """From now on requests to this port are followed in each window."""
        if self.recorder is None:
            self.recorder = Tracer(program, port, self.folder, self.name, cpus)

    def stacks(self) -> bytes | None:
        """What they did in all windows, packed; None if they were not sampled."""
        if self.not_recorded is not None:
            raise self.not_recorded
        if not isinstance(self.recorder, Sampler) or self.pid is None:
            return None
        beside = [companion.pid for companion in self.companions if companion.pid is not None]
        return self.recorder.stacks(self.pid, *beside)

    def traced(self, connects: bool) -> bytes | None:
        """Where the time of the requests went, packed; None if they were not followed."""
        return self.recorder.requests(connects) if isinstance(self.recorder, Tracer) else None

    def switch(self, command: str) -> None:
        """Sends `enable` or `disable` to each program that counts or records."""
        if self.started is not None and self.started.control is not None:
            self.started.control.send(command)
            self.started.control.wait()
        if self.recorder is not None and self.not_recorded is None:
            try:
                self.recorder.control.send(command)
                self.recorder.control.wait()
            except (TrialError, OSError) as error:
                self.not_recorded = self.recorder.failed(error)

    def wait_until_idle(self) -> IdleWait:
        """Waits for a limited time until none of its threads runs, nor its companions'."""
        assert self.pid is not None
        for companion in self.companions:
            companion.wait_until_idle()
        return wait_until_idle(self.pid, self.running.group)

    def accounts(self) -> process_tree.TreeAccounts:
        """The kernel's accounts of the program and its descendants, up to now."""
        assert self.pid is not None
        return process_tree.read(self.pid, self.running.group)

    def held(self, *events: str) -> list[Counter]:
        """What the program, or the kernel for it, has in memory now or had at most."""
        if self.pid is None:
            return [not_supported(event, BYTES) for event in events]
        groups = self.running.memory_group, self.running.group
        return [memory.held(event, self.pid, groups) for event in events]

    def check_pinned(self) -> None:
        """Raises TrialError if the program has moved its threads to other CPUs than its side's."""
        if not self.running.is_ours:
            return
        assert self.pid is not None
        for pid in process_tree.descendants(self.pid):
            for tid in process_tree.threads_of(pid):
                try:
                    strange = os.sched_getaffinity(tid) - set(self.where.cpus)
                except OSError:
                    continue
                if strange:
                    cpus = ",".join(map(str, sorted(strange)))
                    raise TrialError(
                        f"the {self.name}'s process {pid} may run on CPU {cpus}, which is not the "
                        f"{self.name}'s; configure it to keep the CPUs that it is started on"
                    )
