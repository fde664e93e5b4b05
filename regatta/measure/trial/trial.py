"""One trial: a fresh server, a warm-up, the measured load, and all counters.

The load may be split into slices. Then the servers of several trials run side by side and take
turns in random order, one slice each, so that drift of the machine affects all of them alike. A
server that waits for its turn sleeps in the kernel and uses no CPU time.
"""

import random
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from regatta.errors import HostLostError, RegattaError, TrialError
from regatta.measure.accounts import disturbance
from regatta.measure.accounts.disturbance import Others
from regatta.measure.trial import canary, idle_wait
from regatta.measure.trial.load import SEEDS_PER_BLOCK, sliced, warm_up
from regatta.measure.trial.measure import (
    AnswersError,
    disturbed_by,
    measure,
    measure_whole,
    others_in,
)
from regatta.measure.trial.merge import Window, of_slices
from regatta.measure.trial.server import StartUp, start_server, stop_server
from regatta.measure.trial.setup import TrialSetup, fresh_scratch
from regatta.measure.trial.warming import Warming, slice_of
from regatta.record.cell import PROCESS, Cell
from regatta.record.counters import PEAK_MEMORY, Counters, keyed
from regatta.record.records import (
    CLIENT,
    COUNTED_TRIAL,
    FAILED,
    KERNEL,
    PERF,
    SAMPLED,
    SERVER,
    TRACED,
    Trial,
)
from regatta.record.samples import pack_samples
from regatta.record.steady import rows

DYING_S = 0.2


def conditions() -> dict[str, Any]:
    """What else runs on the host when the trial starts."""
    load = Path("/proc/loadavg").read_text().split()
    processes = sum(1 for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return {
        "load_average": [float(part) for part in load[:3]],
        "threads": int(load[3].partition("/")[2]),
        "processes": processes,
    }


class RunningTrial:
    """A trial in progress: its server runs from `start` to `finish`. After a failure it stops.

    A failed trial has a record too: its reason, without counters.
    """

    def __init__(self, setup: TrialSetup, cell: Cell, kind: str, stack: ExitStack) -> None:
        self.setup = setup
        self.cell = cell
        self.wanted = setup.events if kind == COUNTED_TRIAL else ()
        can_sample = setup.perf.path is not None and setup.perf.no_samples is None
        self.records = can_sample if kind == SAMPLED else kind == TRACED
        place = setup.placement.server
        self.result = Trial(kind=kind, started_at=time.time(), conditions=place.ask(conditions))
        whole = cell.scope == PROCESS
        # A whole process's group would include what starts it, so its own clocks are read.
        self.server = stack.enter_context(
            setup.side(place, SERVER, not whole, whole=whole, counts_taskset=cell.counts_taskset)
        )
        self.target = ""
        self.windows: list[Window] = []
        self.clocks: list[canary.Clock] = []
        self.cost: Counters = {}
        """Of its start; empty if that is not measured."""
        self.is_ours = cell.contender not in setup.contenders
        self.warming = Warming(setup.warm_ups, cell, self.is_ours)

    @property
    def failed(self) -> bool:
        return self.result.status == FAILED

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turns an error into a failed trial with its reason."""
        try:
            yield
        except (RegattaError, OSError) as error:
            if isinstance(error, AnswersError):
                self.record_client(error.summary)
            reason = str(self.reason_of(error))
            self.result = replace(
                self.result,
                status=FAILED,
                reason=reason,
                counters={},
                printed={},
                samples=None,
                stacks=None,
                traced=None,
            )
            with suppress(HostLostError):
                self.server.kill()

    def reason_of(self, error: Exception) -> Exception:
        """The likely cause of an error, if the server's host can still be reached."""
        if isinstance(error, HostLostError):
            return error
        try:
            self.result.server = self.result.server or self.output()
            # A dying server closes its connections a moment before it exits.
            if isinstance(error, TrialError) and self.server.ended(within_s=DYING_S):
                return self.server.failure(f"the server died during the trial ({error})")
        except HostLostError as lost:
            return lost
        return error

    def start(self) -> None:
        """Starts a fresh server and asks it once on every connection."""
        with self.guarded():
            with StartUp(self.setup, self.cell) as start_up:
                self.target = start_server(
                    self.setup, self.cell, self.wanted, self.server, start_up
                )
                self.cost = keyed(SERVER, KERNEL, start_up.counters(self.server))
            warm_up(self.setup, self.cell, self.target)

    @property
    def is_warm(self) -> bool:
        """Or given up, or failed."""
        return self.failed or self.warming.done

    def warm_slice(self) -> None:
        """A slice of load, on the way to a steady server."""
        with self.guarded():
            load, seed = self.warming.load(), self.warming.seed
            window = measure(self.setup, load, self.target, self.server, (), seed)
            self.warming.add(window, disturbed_by(self.setup, window) is not None)

    def read_clock(self) -> None:
        """Measures the clock speed of the server's CPUs while the server is idle."""
        if self.setup.canary is not None and (clock := self.setup.canary.ask()) is not None:
            self.clocks.append(clock)

    def run_slice(self, part: Cell, seed: int) -> None:
        with self.guarded():
            self.read_clock()
            if self.records:
                with self.recording_may_fail():
                    self.record()
            self.windows.append(
                measure(self.setup, part, self.target, self.server, self.wanted, seed)
            )

    def record(self) -> None:
        perf, tracer = self.setup.perf.path, self.setup.programs.trace
        if self.result.kind == SAMPLED and perf is not None:
            self.server.sample(perf)
        elif self.result.kind == TRACED and tracer is not None:
            port = self.target.rpartition(":")[2]
            self.server.trace(tracer, port, self.setup.placement.cpus())

    @contextmanager
    def recording_may_fail(self) -> Iterator[None]:
        """A trial without samples or trace is no failure of its server."""
        try:
            yield
        except TrialError as error:
            self.records = False
            self.result.conditions["not_recorded"] = f"{error}"

    def finish(self) -> None:
        """Stops the server and merges its slices."""
        with self.guarded():
            whole = of_slices(self.windows)
            self.record_client(whole.client)
            if not self.is_ours:
                self.server.check_pinned()
            peak = keyed(SERVER, KERNEL, self.server.held(PEAK_MEMORY))
            self.result.server = self.output()
            whole = self.stop(whole)
            self.result.window_ns = whole.length_ns
            self.result.samples = pack_samples(whole.samples)
            by_perf = keyed(SERVER, PERF, self.server.counters())
            self.result.counters = by_perf | whole.counters | peak | self.cost
            with self.recording_may_fail():
                self.result.stacks = self.server.stacks()
                connects = self.cell.rounds is not None or bool(self.cell.per_connection)
                self.result.traced = self.server.traced(connects)
            self.result.printed = whole.printed
            self.result.conditions |= {
                **idle_wait.describe(whole.rests),
                **canary.describe(self.clocks),
                **self.warming.found(),
                "window_slices": rows([slice_of(window) for window in self.windows]),
            }
            self.judge(whole)

    def judge(self, whole: Window) -> None:
        """Records whether the trial was disturbed, and whether that slowed its client down."""
        others, limit = self.others(whole), self.setup.disturbance_limit_percent
        self.result.conditions |= others.describe()
        self.result.disturbed = disturbed_by(self.setup, whole, others)
        if self.result.client_bound is not None:
            place = self.setup.placement
            sides = (SERVER, CLIENT) if place.cpus_overlap else (CLIENT,)
            on_client = disturbance.on_client(
                disturbance.merge([window.others for window in self.windows]),
                whole.cpu_ns(*sides),
                place.client_cpu_count,
            )
            self.result.conditions["client_held_up"] = disturbance.held_up(
                on_client, whole.client.get("cpu_share"), limit
            )

    def others(self, whole: Window) -> Others:
        return others_in(self.setup, whole)

    def stop(self, whole: Window) -> Window:
        """Stops the server; returns what was counted, to its end."""
        self.result.server = stop_server(self.setup, self.cell, self.server) or self.output()
        return whole

    def record_client(self, client: dict[str, Any]) -> None:
        self.result.client = client
        self.result.requests = client.get("requests")
        self.result.answered = client.get("answered")
        self.result.throughput_per_s = client.get("throughput_per_s")
        # A count of a whole process measures what it used, not its capacity.
        if self.cell.scope != PROCESS:
            self.result.client_bound = client.get("client_bound")

    def output(self) -> dict[str, Any] | None:
        """The last output of another contender; our designs have a summary instead."""
        return None if self.is_ours else {"output": self.server.last_output()}


class WholeProcessTrial(RunningTrial):
    """A trial of a whole process from start to end: one burst, idling, and a stop.

    Without a warm-up, as if a person ran `perf stat ./server`, ran a client, and pressed Ctrl-C a
    while later.
    """

    def __init__(self, setup: TrialSetup, cell: Cell, kind: str, stack: ExitStack) -> None:
        super().__init__(setup, cell, kind, stack)
        self.wanted = setup.events
        self.warming.done = True
        self.start_ns = 0
        self.before = disturbance.NEVER

    def start(self) -> None:
        with self.guarded():
            self.read_clock()
            self.before = disturbance.read_clocks()
            self.start_ns = time.monotonic_ns()
            self.target = start_server(self.setup, self.cell, self.wanted, self.server)

    def run_slice(self, part: Cell, seed: int) -> None:
        """Runs the burst and the idling after it."""
        with self.guarded():
            self.windows.append(
                measure_whole(self.setup, part, self.target, self.server, self.wanted, seed)
            )

    def stop(self, whole: Window) -> Window:
        super().stop(whole)
        length_ns = time.monotonic_ns() - self.start_ns
        text, cpus = self.server.printed(), self.setup.placement.cpus()
        after = disturbance.read_clocks()
        return replace(
            whole,
            length_ns=length_ns,
            printed={SERVER: text, **whole.printed} if text else whole.printed,
            others=disturbance.others_between(self.before, after, cpus),
        )

    def others(self, whole: Window) -> Others:
        """From running processes only: what starts the two sides is in no account."""
        return whole.others


def run_side_by_side(
    setup: TrialSetup, cells: Sequence[Cell], kind: str, block: int, slices: int
) -> list[Trial]:
    """Runs a trial of each cell with alternating slices; returns them in cell order."""
    chance = random.Random(setup.seed * SEEDS_PER_BLOCK + block)
    fresh_scratch(setup.scratch)
    try:
        with ExitStack() as stack:
            trials = [
                (WholeProcessTrial if cell.scope == PROCESS else RunningTrial)(
                    with_scratch(setup, number), cell, kind, stack
                )
                for number, cell in enumerate(cells)
            ]
            for trial in trials:
                trial.start()
            while cold := [trial for trial in trials if not trial.is_warm]:
                for trial in cold:  # in turns, so that no warm server waits long for the others
                    trial.warm_slice()
            take_turns(trials, slices, block, chance)
            for trial in trials:
                if not trial.failed:
                    trial.finish()
    finally:
        shutil.rmtree(setup.scratch, ignore_errors=True)
    return [trial.result for trial in trials]


def take_turns(
    trials: Sequence[RunningTrial], slices: int, block: int, chance: random.Random
) -> None:
    """Runs the slices of all trials round by round, each round in a fresh random order."""
    parts = [sliced(trial.cell, slices) for trial in trials]
    for turn in range(slices):
        order = [number for number in range(len(trials)) if turn < len(parts[number])]
        chance.shuffle(order)
        for number in order:
            if not trials[number].failed:
                trials[number].run_slice(parts[number][turn], block * SEEDS_PER_BLOCK + turn)


def with_scratch(setup: TrialSetup, number: int) -> TrialSetup:
    """The setup with its own folder for one of several trials."""
    setup = replace(setup, scratch=setup.scratch / str(number))
    setup.clear_scratch()
    return setup
