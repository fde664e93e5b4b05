"""All probes of one examination. A probe that several checks need runs once."""

import random
import statistics
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property

from regatta.checks.doctor.finding import Effect, RaceSetup
from regatta.checks.doctor.machine import Machine
from regatta.checks.doctor.probes import intervals, perf_cost
from regatta.checks.doctor.probes.child import Child, Neighbour, ProbeError
from regatta.judge.estimates import digits
from regatta.record.study.cpus import cpus_text

Say = Callable[[str], None]
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


class Bench:
    """Measures on the CPUs of a race. `say` is called with what is being measured."""

    def __init__(self, machine: Machine, setup: RaceSetup, say: Say) -> None:
        self.machine = machine
        self.setup = setup
        self.say = say
        self.cpu = setup.server_cpus[0]

    @cached_property
    def lost(self) -> dict[str, list[Effect]]:
        """CPU time lost by a busy program on one CPU of each side, by cause."""
        self.say("time lost on the pinned CPUs")
        cpus = list(dict.fromkeys((self.cpu, self.setup.client_cpus[0])))
        with ExitStack() as stack:
            children = [stack.enter_context(Child(cpu)) for cpu in cpus]
            for child in children:
                child.send("watch", WATCH_S)
            answers = [child.receive() for child in children]
        found: dict[str, list[Effect]] = {"others": [], "unseen": []}
        words = {"others": "other programs", "unseen": "interrupts or the host"}
        for cpu, pieces in zip(cpus, answers, strict=True):
            for taker, effects in found.items():
                longest_ms = max(piece[f"{taker}_longest_ns"] for piece in pieces) / 1e6
                shares = [100 * piece[f"{taker}_ns"] / piece["wall_ns"] for piece in pieces]
                what = (
                    f"CPU {cpu} taken from a busy program by {words[taker]} "
                    f"(at most {digits(longest_ms)} ms at a time)"
                )
                effects.append(intervals.mean(what, "%", shares))
        return found

    def neighbour_cpu(self) -> int | None:
        """The CPU that may slow the server down most: its sibling, else the client's."""
        allowed = set(self.machine.allowed_cpus())
        siblings = sorted(self.machine.siblings(self.cpu) & allowed - {self.cpu})
        others = [cpu for cpu in self.setup.client_cpus if cpu != self.cpu]
        return next(iter(siblings + others), None)

    @cached_property
    def neighbour(self) -> list[Effect]:
        """Extra cost of the same work on the server's CPU while another CPU computes."""
        other = self.neighbour_cpu()
        if other is None:
            raise ProbeError("there is no other CPU to keep busy")
        self.say(f"the server's CPU while {cpus_text([other])} is busy")
        found: list[Effect] = []
        with Child(self.cpu) as worker, Neighbour(other) as busy:
            for task, word in (("compute", "computing"), ("calls", "system calls")):
                count = worker.size(task, PIECE_S)
                quiet, disturbed = self.pairs(worker, busy, task, count)
                what = f"extra CPU time of {word} on CPU {self.cpu} while CPU {other} computes"
                found.append(intervals.extra_cost(what, quiet, disturbed))
        return found

    @staticmethod
    def pairs(
        worker: Child, busy: Neighbour, task: str, count: int
    ) -> tuple[list[float], list[float]]:
        """CPU times of equal work with a quiet and a busy neighbour, in pairs of random order."""
        times: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(PAIRS):
            for run in random.sample((False, True), 2):
                busy.let(run)
                times[run].append(float(worker.ask(task, count)["cpu_ns"]))
        return times[False], times[True]

    @cached_property
    def speed(self) -> tuple[list[float], list[float]]:
        """CPU time of the first piece of work after each rest, and the median of later ones."""
        self.say("the speed after a rest")
        first: list[float] = []
        steady: list[float] = []
        with Child(self.cpu) as worker:
            count = worker.size("compute", FIRST_S)
            for _ in range(RESTS):
                worker.ask("nap", 1, REST_MS * 1000)
                times = [float(worker.ask("compute", count)["cpu_ns"]) for _ in range(STEADY)]
                first.append(times[0])
                steady.append(statistics.median(times[STEADY // 2 :]))
        return first, steady

    @cached_property
    def ramp(self) -> Effect:
        first, steady = self.speed
        what = (
            f"extra CPU time of the first {FIRST_S * 1000:.0f} ms of work on CPU {self.cpu} after "
            f"{REST_MS} ms of rest"
        )
        return intervals.extra_cost(what, steady, first)

    @cached_property
    def steadiness(self) -> Effect:
        what = f"standard deviation of CPU {self.cpu}'s speed between periods of work"
        return intervals.spread(what, self.speed[1])

    @cached_property
    def wake(self) -> Effect:
        self.say("the delay of a wake-up")
        with Child(self.cpu) as worker:
            medians = [
                statistics.median(worker.ask("nap", NAPS, NAP_US)) / 1000 for _ in range(NAP_ROUNDS)
            ]
        what = f"delay of a wake-up on CPU {self.cpu} after {NAP_US // 1000} ms of sleep"
        return intervals.geometric(what, "µs", medians)

    @cached_property
    def clock(self) -> Effect:
        self.say("the cost of reading the clock")
        with Child(self.cpu) as worker:
            costs = [worker.ask("clock", READINGS) / READINGS for _ in range(CLOCK_ROUNDS)]
        return intervals.mean("CPU time to read the clock", "ns", costs)

    @cached_property
    def perf_cost(self) -> Effect:
        self.say("the cost of counting with perf")
        return perf_cost.measure(self.setup)
