"""The probes of one examination: measurements of a few seconds, each with its 95 % interval. A
probe that several checks need runs once."""

import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.checks.doctor.finding import Effect, RaceSetup
from regatta.checks.doctor.machine import Machine
from regatta.errors import RegattaError
from regatta.judge.estimates import digits
from regatta.judge.interval import Interval
from regatta.judge.statistics.autocorrelation import mean_interval
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.judge.unpaired import unpaired
from regatta.measure.places.side import SidePlacement
from regatta.measure.processes import guard_environment
from regatta.measure.programs import discover
from regatta.measure.race.options import Options
from regatta.measure.race.race import begin
from regatta.record import read as ledger_read
from regatta.record.readings import event
from regatta.record.records import COUNTED_TRIAL, TIMED, Trial
from regatta.record.schema import FILE_NAME
from regatta.record.study import parse_study
from regatta.record.study.cpus import cpus_text

WORKER = Path(__file__).with_name("worker.py")
ANSWER_TIMEOUT_S = 60
WATCH_S = 3.0
PAIRS = 12
PIECE_S = 0.08
RESTS = 10
REST_MS = 250
FIRST_S = 0.005
STEADY = 60
"""Pieces of `FIRST_S` after a rest; the median of the second half is the steady speed."""
NAPS, NAP_US, NAP_ROUNDS = 12, 5000, 12
READINGS, CLOCK_ROUNDS = 20_000, 20
LEAST_US = 0.1
"""Smallest delay of a wake-up: smaller or negative ones are clock resolution."""
FEWEST_TRIALS = 3
PERF_COST = "extra CPU time of a request (work scan, 10 connections) with all perf events attached"
PERF_STUDY = """
name = "doctor"
title = "Cost of counting with perf"
[race]
blocks = 10
counted_blocks = 10
[[cells]]
designs = ["select"]
connections = 10
work = "scan"
load = "burst"
engine = "epoll"
requests = 100
"""


class ProbeError(RegattaError):
    """A probe could not measure."""


@contextmanager
def worker(cpu: int, task: str, *numbers: float) -> Iterator[subprocess.Popen[str]]:
    """A process that does a task (worker.py) on one CPU; it is killed at the end."""
    words = [sys.executable, "-E", "-S", str(WORKER), task, *map(str, numbers)]
    try:
        process = subprocess.Popen(
            SidePlacement((), (cpu,)).command(words),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=guard_environment(),
            # Only the lab handles Ctrl-C.
            start_new_session=True,
        )
    except OSError as error:
        raise ProbeError(f"a probe did not start: {error}") from error
    with process:
        try:
            yield process
        finally:
            process.kill()


def answer(process: subprocess.Popen[str]) -> Any:
    try:
        return json.loads(process.communicate(timeout=ANSWER_TIMEOUT_S)[0])
    except subprocess.TimeoutExpired as error:
        raise ProbeError(f"a probe did not answer within {ANSWER_TIMEOUT_S} s") from error
    except ValueError as error:
        raise ProbeError("a probe exited without an answer") from error


def ask(cpu: int, task: str, *numbers: float) -> Any:
    with worker(cpu, task, *numbers) as process:
        return answer(process)


class Bench:
    """Measures on the CPUs of a race. `say` is called with what is being measured."""

    def __init__(self, machine: Machine, setup: RaceSetup, say: Callable[[str], None]) -> None:
        self.machine = machine
        self.setup = setup
        self.say = say
        self.cpu = setup.server_cpus[0]

    @cached_property
    def watched(self) -> dict[int, list[dict[str, int]]]:
        """What a busy program loses on one CPU of each side, by CPU, in pieces."""
        self.say("time lost on the pinned CPUs")
        cpus = dict.fromkeys((self.cpu, self.setup.client_cpus[0]))
        with ExitStack() as stack:
            workers = {cpu: stack.enter_context(worker(cpu, "watch", WATCH_S)) for cpu in cpus}
            return {cpu: answer(process) for cpu, process in workers.items()}

    def _lost(self, taker: str, words: str) -> list[Effect]:
        found: list[Effect] = []
        for cpu, pieces in self.watched.items():
            longest_ms = max(piece[f"{taker}_longest_ns"] for piece in pieces) / 1e6
            shares = [100 * piece[f"{taker}_ns"] / piece["wall_ns"] for piece in pieces]
            what = (
                f"CPU {cpu} taken from a busy program by {words} "
                f"(at most {digits(longest_ms)} ms at a time)"
            )
            found.append(mean(what, "%", shares))
        return found

    @property
    def others(self) -> list[Effect]:
        return self._lost("others", "other programs")

    @property
    def unseen(self) -> list[Effect]:
        return self._lost("unseen", "interrupts or the host")

    def neighbour_cpu(self) -> int | None:
        """The CPU that may slow the server down most: its sibling, else the client's."""
        allowed = set(self.machine.allowed_cpus())
        siblings = sorted(self.machine.siblings(self.cpu) & allowed - {self.cpu})
        others = [cpu for cpu in self.setup.client_cpus if cpu != self.cpu]
        return next(iter(siblings + others), None)

    @property
    def neighbour(self) -> list[Effect]:
        """Extra cost of the same work on the server's CPU while another CPU computes."""
        other = self.neighbour_cpu()
        if other is None:
            raise ProbeError("there is no other CPU to keep busy")
        self.say(f"the server's CPU while {cpus_text([other])} is busy")
        with worker(other, "busy") as busy:
            assert busy.stdout
            busy.stdout.readline()  # it has begun
            found = ask(self.cpu, "beside", busy.pid, PAIRS, PIECE_S)
        return [
            extra_cost(
                f"extra CPU time of {words} on CPU {self.cpu} while CPU {other} computes",
                *zip(*pairs, strict=True),
            )
            for words, pairs in zip(("computing", "system calls"), found, strict=True)
        ]

    @cached_property
    def speed(self) -> tuple[list[float], list[float]]:
        """CPU time of the first piece of work after each rest, and the median of later ones."""
        self.say("the speed after a rest")
        times = ask(self.cpu, "work", RESTS, REST_MS, FIRST_S, STEADY)
        first = [pieces[0] for pieces in times]
        return first, [statistics.median(pieces[STEADY // 2 :]) for pieces in times]

    @property
    def ramp(self) -> list[Effect]:
        first, steady = self.speed
        what = (
            f"extra CPU time of the first {FIRST_S * 1000:.0f} ms of work on CPU {self.cpu} after "
            f"{REST_MS} ms of rest"
        )
        return [extra_cost(what, steady, first)]

    @property
    def steadiness(self) -> list[Effect]:
        what = f"standard deviation of CPU {self.cpu}'s speed between periods of work"
        return [spread(what, self.speed[1])]

    @property
    def wake(self) -> list[Effect]:
        self.say("the delay of a wake-up")
        late_us = [
            statistics.median(late_ns) / 1000
            for late_ns in ask(self.cpu, "nap", NAP_ROUNDS, NAPS, NAP_US)
        ]
        what = f"delay of a wake-up on CPU {self.cpu} after {NAP_US // 1000} ms of sleep"
        # The geometric mean, as delays have a long tail.
        found = mean(what, "µs", [math.log(max(one, LEAST_US)) for one in late_us])
        return [effect(what, "µs", found.through(math.exp), found.samples)]

    @property
    def clock(self) -> list[Effect]:
        self.say("the cost of reading the clock")
        costs = [one / READINGS for one in ask(self.cpu, "clock", CLOCK_ROUNDS, READINGS)]
        return [mean("CPU time to read the clock", "ns", costs)]

    @property
    def perf_cost(self) -> list[Effect]:
        """From a short race with timed and counted trials."""
        self.say("the cost of counting with perf")
        try:
            programs = discover()
            with tempfile.TemporaryDirectory(prefix="regatta-doctor-") as folder:
                options = Options(
                    out=Path(folder) / "race",
                    placement=self.setup.placement,
                    server_cpus=self.setup.server_cpus,
                    client_cpus=self.setup.client_cpus,
                )
                study = parse_study(PERF_STUDY, programs.designs)
                race = begin(study, options, programs, tell=lambda _: None)
                return [cost_of_counting(ledger_read.read(race / FILE_NAME).trials)]
        except RegattaError as error:
            raise ProbeError(str(error)) from error


def cost_of_counting(trials: Sequence[Trial]) -> Effect:
    """Compares the kernel's accounting, which timed and counted trials both have."""
    if not any(origin == "perf" for trial in trials for _, origin, _ in trial.counters):
        raise ProbeError("perf cannot count anything here")
    costs: dict[str, list[float]] = {TIMED: [], COUNTED_TRIAL: []}
    for trial in trials:
        cpu_ns = event(trial, "server", "cpu-time", "kernel")
        if trial.counts and trial.answered and not isinstance(cpu_ns, str):
            costs[trial.kind].append(cpu_ns / trial.answered)
    if min(map(len, costs.values())) < FEWEST_TRIALS:
        raise ProbeError("too few trials of the probe succeeded")
    old, new = (np.array(costs[kind]) for kind in costs)
    found = unpaired(old, new, correlated=False)
    assert found is not None, "both have enough trials"
    more = Interval(found.value, *found.interval()).through(lambda ratio: 100 * (ratio - 1))
    return effect(PERF_COST, "%", more, sum(map(len, costs.values())))


def effect(what: str, unit: str, size: Interval, samples: int) -> Effect:
    return Effect(size.value, size.low, size.high, what=what, unit=unit, samples=samples)


def mean(what: str, unit: str, values: Sequence[float]) -> Effect:
    found = mean_interval(np.array(values, dtype=np.float64))
    value = float(np.mean(values))
    return effect(what, unit, found.closed or Interval(value, value, value), len(values))


def extra_cost(what: str, before: Sequence[float], after: Sequence[float]) -> Effect:
    """By how many percent the second of each pair exceeds the first."""
    found = PairedMean(np.log(np.array(after) / np.array(before)))
    ends = found.interval() or (found.mean, found.mean)
    more = Interval(found.mean, *ends).through(lambda log: 100 * math.expm1(log))
    return effect(what, "%", more, found.count)


def spread(what: str, values: Sequence[float]) -> Effect:
    """The standard deviation in percent of the mean, with its interval for normal data."""
    logs = np.log(np.array(values))
    free = len(logs) - 1
    percent = 100 * float(logs.std(ddof=1))
    low, high = (
        percent * math.sqrt(free / float(special.chdtri(free, fraction)))
        for fraction in (LEVEL / 2, 1 - LEVEL / 2)
    )
    return effect(what, "%", Interval(percent, low, high), len(logs))
