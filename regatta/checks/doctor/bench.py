"""The probes of one examination: measurements of a few seconds, each with its 95 % interval. A
probe that several checks need runs once."""

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from regatta.checks.doctor.finding import Effect, RaceSetup
from regatta.checks.doctor.machine import Machine
from regatta.errors import RegattaError
from regatta.judge.estimates import digits
from regatta.judge.interval import Interval
from regatta.judge.statistics.autocorrelation import mean_interval
from regatta.judge.statistics.joint import PairedMean
from regatta.measure.places.side import SidePlacement
from regatta.measure.processes import guard_environment
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
LEAST_US = 0.1
"""Smallest delay of a wake-up: smaller or negative ones are clock resolution."""


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
            pairs = ask(self.cpu, "beside", busy.pid, PAIRS, PIECE_S)
        what = f"extra CPU time of computing on CPU {self.cpu} while CPU {other} computes"
        return [extra_cost(what, *zip(*pairs, strict=True))]

    @property
    def ramp(self) -> list[Effect]:
        """CPU time of the first piece of work after each rest, beside the median of later ones."""
        self.say("the speed after a rest")
        times = ask(self.cpu, "work", RESTS, REST_MS, FIRST_S, STEADY)
        steady = [statistics.median(pieces[STEADY // 2 :]) for pieces in times]
        what = (
            f"extra CPU time of the first {FIRST_S * 1000:.0f} ms of work on CPU {self.cpu} after "
            f"{REST_MS} ms of rest"
        )
        return [extra_cost(what, steady, [pieces[0] for pieces in times])]

    @property
    def wake(self) -> list[Effect]:
        self.say("the delay of a wake-up")
        late_us = [
            statistics.median(late_ns) / 1000
            for late_ns in ask(self.cpu, "nap", NAP_ROUNDS, NAPS, NAP_US)
        ]
        what = f"delay of a wake-up on CPU {self.cpu} after {NAP_US // 1000} ms of sleep"
        # The geometric mean, as delays have a long tail.
        found = mean(what, "µs", [math.log(max(late, LEAST_US)) for late in late_us])
        return [effect(what, "µs", found.through(math.exp), found.samples)]


def effect(what: str, unit: str, size: Interval, samples: int) -> Effect:
    return Effect(size.value, size.low, size.high, what=what, unit=unit, samples=samples)


def mean(what: str, unit: str, values: Sequence[float]) -> Effect:
    found = mean_interval(np.array(values, dtype=np.float64))
    value = float(np.mean(values))
    return effect(what, unit, found.closed or Interval(value, value, value), len(values))


def extra_cost(what: str, before: Sequence[float], after: Sequence[float]) -> Effect:
    """By how many percent the second of each pair exceeds the first."""
    found = PairedMean(np.log(np.array(after) / np.array(before)))
    logs = found.interval() if found.count > 1 else Interval(found.mean, found.mean, found.mean)
    more = logs.through(lambda log: 100 * math.expm1(log))
    return effect(what, "%", more, found.count)
