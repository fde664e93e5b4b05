"""Runs trials in blocks and estimates each row: a ratio of ours to the peer's, or our value alone.

A block is one trial of every server under every load, in random order. Ratios are taken within
blocks, so that the machine's drift affects both sides alike.
"""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bench.loads import SERVER_CPU
from bench.readings import ReaderTrial
from bench.rows import Best, Row, ServerTrial, Turns
from bench.testbed import Figures, Testbed
from regatta.errors import RegattaError
from regatta.judge.interval import Interval
from regatta.judge.statistics.autocorrelation import reach_of
from regatta.judge.statistics.joint import PairedMean

SCREENING_BLOCKS = 3

# What is run at once.
Run = ServerTrial | ReaderTrial | Turns
# Trials in the order in which they run, each with its block.
Trials = list[tuple[int, Run]]


@dataclass
class Measurements:
    """Each trial's figures by block, and all failures."""

    figures: dict[ServerTrial | ReaderTrial, dict[int, Figures]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def run(self, testbed: Testbed, run: Run, block: int) -> None:
        """Runs a trial or turns; records a failure and goes on."""
        found: dict[ServerTrial | ReaderTrial, Figures]
        try:
            found = run.run(testbed) if isinstance(run, Turns) else {run: run.run(testbed)}
        except RegattaError as error:
            self.failures.append(f"{run.name}, block {block + 1}: {error}")
            return
        for trial, figures in found.items():
            self.figures.setdefault(trial, {})[block] = figures

    def values(self, trial: ServerTrial | ReaderTrial, figure: str) -> dict[int, float]:
        return {block: found[figure] for block, found in self.figures.get(trial, {}).items()}


@dataclass(frozen=True)
class Outcome:
    """A row's value with its 95 % interval; None if fewer than two blocks succeeded."""

    row: Row
    ours: list[float]
    peer: list[float]
    value: float | None
    low: float | None
    high: float | None

    @property
    def verdict(self) -> str | None:
        """`met`, `missed`, or `undecided` where the interval includes the goal's bound."""
        goal = self.row.goal
        if goal is None or self.value is None or self.low is None or self.high is None:
            return None
        sides = {goal.side(end) for end in (self.low, self.value, self.high)}
        if len(sides) > 1:
            return "undecided"
        return "met" if sides == {0} else "missed"


def estimate(row: Row, measured: Measurements) -> Outcome:
    """The geometric mean over blocks, so that a ratio and its inverse agree."""
    assert not isinstance(row.ours, Best)
    ours = measured.values(row.ours, row.figure)
    peer = measured.values(row.peer, row.figure) if row.peer is not None else None
    blocks = sorted(ours.keys() if peer is None else ours.keys() & peer.keys())
    our_values = [ours[block] for block in blocks]
    peer_values = [peer[block] for block in blocks] if peer is not None else []
    if len(blocks) < 2:
        return Outcome(row, our_values, peer_values, None, None, None)
    values = np.array(our_values) / (np.array(peer_values) if peer_values else 1.0)
    # A value can be 0 and has no logarithm then; a ratio of costs cannot.
    has_logs = bool((values > 0).all())
    numbers = np.log(values) if has_logs else values
    # Sign flips are exact for pairs; values alone need an allowance for correlated blocks.
    in_pairs = bool(peer_values) and has_logs
    interval = PairedMean(numbers).interval() if in_pairs else _alone(numbers)
    ends = vars(interval).values()
    value, low, high = (float(np.exp(end)) if has_logs else end for end in ends)
    return Outcome(row, our_values, peer_values, value, low, high)


def _alone(numbers: NDArray[np.float64]) -> Interval:
    reach, mean = reach_of(numbers), float(numbers.mean())
    assert reach is not None, "there are at least two blocks"
    return Interval(mean, mean - reach, mean + reach)


def blocks_of(rows: Iterable[Row], blocks: int) -> dict[Run, int]:
    """Each run of the rows once, with its number of blocks."""
    found: dict[Run, int] = {}
    for row in rows:
        wanted = min(blocks, row.most_blocks or blocks)
        for run in row.runs():
            found[run] = max(wanted, found.get(run, 0))
    return found


def plan(rows: Sequence[Row], blocks: int, order: random.Random) -> Trials:
    """All trials, block by block, in random order within groups."""
    groups = list(dict.fromkeys(row.group for row in rows))
    planned: Trials = []
    for block in range(blocks):
        for group in order.sample(groups, len(groups)):
            wanted = blocks_of((row for row in rows if row.group == group), blocks)
            trials = [trial for trial, most in wanted.items() if block < most]
            planned += [(block, trial) for trial in order.sample(trials, len(trials))]
    return planned


def screening(rows: Sequence[Row], blocks: int, order: random.Random) -> Trials:
    """The trials that choose the best servers; none where there is only one candidate."""
    choices = dict.fromkeys(
        tuple(row.ours.screening()) for row in rows if isinstance(row.ours, Best)
    )
    planned: Trials = []
    for block in range(min(blocks, SCREENING_BLOCKS)):
        for trials in choices:
            if len(trials) > 1:
                planned += [(block, trial) for trial in order.sample(trials, len(trials))]
    return planned


def choose(best: Best, screened: Measurements) -> ServerTrial:
    """The candidate with the lowest server CPU time, without those whose screening failed."""
    trials = best.screening()
    costs = {
        trial: float(np.log(list(screened.values(trial, SERVER_CPU).values())).mean())
        for trial in trials
        if screened.figures.get(trial)
    }
    if len(trials) > 1 and not costs:
        raise RegattaError(f"every screening failed; the last failure: {screened.failures[-1]}")
    cheapest = min(trials, key=lambda trial: costs.get(trial, math.inf))
    assert isinstance(cheapest, ServerTrial)
    return ServerTrial(cheapest.server, best.load)


def run_all(testbed: Testbed, planned: Iterable[tuple[int, Run]]) -> Measurements:
    """Runs all planned trials."""
    measured = Measurements()
    for block, trial in planned:
        measured.run(testbed, trial, block)
    return measured


def decide(rows: Sequence[Row], screened: Measurements) -> list[Row]:
    """The rows with each `Best` replaced by the chosen server, which is added to the name."""

    def decided(row: Row) -> Row:
        if not isinstance(row.ours, Best):
            return row
        best = choose(row.ours, screened)
        return replace(row, ours=best, name=f"{row.name}: {best.server.name}")

    return [decided(row) for row in rows]
