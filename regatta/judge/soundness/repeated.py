"""Which trials were disturbed and repeated, and outliers."""

from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from regatta.judge.statistics.sign_flips import LEVEL, BlockValues
from regatta.record.cell import Cell
from regatta.record.records import OK, RaceRecord, Trial

# An outlier is beyond Tukey's outer fences, three interquartile ranges away; in logarithms if all
# values are positive, since times are skewed.

FENCE = 3.0
FEWEST = 5
"""With fewer trials none is called an outlier."""


@dataclass(frozen=True)
class Outlier:
    cell: Cell
    block: int
    metric: str
    value: float
    """Of its trial, in the metric's unit."""
    median: float
    """Of all trials of the cell."""


def outliers(cell: Cell, blocks: dict[str, BlockValues]) -> list[Outlier]:
    return [
        Outlier(cell, block, metric, values[block], float(np.median(list(values.values()))))
        for metric, values in blocks.items()
        for block in outlying_blocks(values)
    ]


def outlying_blocks(values: BlockValues) -> list[int]:
    """The blocks whose value lies beyond the outer fences."""
    if len(values) < FEWEST:
        return []
    numbers = np.array(list(values.values()), dtype=np.float64)
    if numbers.min() > 0:
        numbers = np.log(numbers)
    low, high = np.quantile(numbers, [0.25, 0.75])
    reach = FENCE * (high - low)
    if reach == 0:
        return []  # half of the values are equal, so any other would be an outlier
    far = (numbers < low - reach) | (numbers > high + reach)
    return [block for block, is_far in zip(values, far, strict=True) if is_far]


# Repeating is a selection: a disturbed trial is replaced by one from a quieter moment. Trials that
# are compared are repeated together, so no contender is favoured. If disturbances hit a heat's
# contenders at random, the hits of each are a sum of independent draws, whose exact distribution
# shows whether one was disturbed more often than by chance (Bonferroni over the contenders).


@dataclass(frozen=True)
class Hit:
    contender: str
    trials: int
    """First attempts."""
    disturbed: int
    """Disturbed first attempts."""
    by_chance: float
    """The expected number if disturbances hit the contenders of a heat at random."""
    again: int
    """Repeated trials, its own disturbed ones and those repeated with a rival's."""


@dataclass(frozen=True)
class Repeated:
    hits: list[Hit] = field(default_factory=list)
    """Empty if no trial was repeated."""
    p_value: float = 1.0
    """Of the contender whose hits are least likely by chance, over all contenders."""
    furthest: str = ""
    """That contender."""

    @property
    def is_unequal(self) -> bool:
        """Whether a contender was disturbed more often than by chance."""
        return self.p_value <= LEVEL


def repeats_of(ledger: RaceRecord) -> Repeated:
    if not any(trial.superseded for trial in ledger.trials):
        return Repeated()
    hits, p_values = _hits(ledger)
    furthest = min(p_values, key=lambda name: p_values[name])
    p_value = min(1.0, len(p_values) * p_values[furthest])
    return Repeated(hits, p_value, furthest)


def _hits(ledger: RaceRecord) -> tuple[list[Hit], dict[str, float]]:
    """What hit each contender, and the probability of as many hits by chance."""
    cells = {cell.id: cell for cell in ledger.cells}
    heats: dict[tuple[object, ...], list[Trial]] = {}
    for trial in ledger.trials:
        if trial.attempt == 1 and trial.status == OK:
            heat = (trial.block, cells[trial.cell_id].comparison_key())
            heats.setdefault(heat, []).append(trial)
    order = {cell.contender: cell.contender_order for cell in ledger.cells}
    names = sorted(order, key=lambda name: (order[name], name))
    shares: dict[str, list[float]] = {name: [] for name in names}
    disturbed: Tally[str] = Tally()
    for trials in heats.values():
        share = sum(trial.disturbed is not None for trial in trials) / len(trials)
        for trial in trials:
            name = cells[trial.cell_id].contender
            shares[name].append(share)
            disturbed[name] += trial.disturbed is not None
    again = Tally(cells[trial.cell_id].contender for trial in ledger.trials if trial.superseded)
    hits = [
        Hit(name, len(shares[name]), disturbed[name], sum(shares[name]), again[name])
        for name in names
    ]
    return hits, {name: at_least(disturbed[name], shares[name]) for name in names}


def at_least(count: int, shares: Sequence[float]) -> float:
    """The probability of at least so many hits, each with its own probability."""
    distribution = np.ones(1)
    for share in shares:
        if share > 0:
            distribution = np.convolve(distribution, [1 - share, share])
    return float(distribution[count:].sum())
