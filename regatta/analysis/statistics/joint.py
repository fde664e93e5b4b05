"""Several differences as one two-sided family: which of them are distinguishable from 0.

Decided by sign flips of whole blocks (sign_flips.py) with step-down, at a family-wise error rate of
5 % for any number of differences. The widths of the intervals come from sign flips of the
residuals, so they hold simultaneously.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.sign_flips import POWER, Rows, batches, critical, step_down, t_of
from regatta.analysis.statistics.units import BLOCKS, Units

BELOW, AROUND, ABOVE = -1, 0, 1
Ends = tuple[float | None, float | None]
"""Of an interval; None: unbounded on that side."""
JUST_BEYOND = 1e-9
"""Distance of an end from the null value that it excludes: relative, or absolute near 0."""


@dataclass(frozen=True)
class SignDecision:
    """The sign that a difference is shown to have."""

    sign: int
    """`BELOW`, `ABOVE`, or `AROUND` where neither is shown."""
    p_value: float
    """Of being 0, adjusted for the family."""


@dataclass(frozen=True)
class Joint:
    decisions: list[SignDecision]
    """In the order of the differences."""
    score: float
    """The critical score of their intervals (`Mean.interval`); infinite if nothing is decided."""


@dataclass(frozen=True)
class Mean:
    """The mean of one number a block."""

    value: float
    error: float
    count: int

    @classmethod
    def of_blocks(cls, blocks: Mapping[int, float]) -> Mean:
        rows = Rows.of([blocks])
        error = float(rows.errors[0]) if len(blocks) > 1 else 0.0
        return cls(float(rows.means[0]), error, len(blocks))

    def reach(self, score: float) -> float:
        """Half-width of an interval."""
        return 0.0 if self.error == 0 else errors_of(score, self.count) * self.error

    def interval(self, score: float) -> tuple[float, float]:
        reach = self.reach(score)
        return self.value - reach, self.value + reach

    def detectable(self, score: float) -> float:
        """The smallest true mean detectable at 80 % power."""
        return self.reach(score) + float(special.stdtrit(self.count - 1, POWER)) * self.error


def errors_of(score: float, blocks: int) -> float:
    """A score of so many blocks in standard errors."""
    return math.inf if math.isinf(score) else float(t_of(score, np.array(blocks - 1)))


def decide_jointly(differences: Sequence[Mapping[int, float]], units: Units = BLOCKS) -> Joint:
    """Each has one number a unit; differences with too few units are not in the family."""
    enough = [at for at, one in enumerate(differences) if len(one) >= units.fewest]
    decisions = [SignDecision(AROUND, 1.0) for _ in differences]
    if not enough:
        return Joint(decisions, math.inf)
    rows = Rows.of([differences[at] for at in enough])
    parts = batches(units.ways(rows.values.shape[1]))
    chance = np.concatenate([rows.scores(part) for part in parts])
    p_values, shown = step_down(np.abs(chance), LEVEL)
    for row, at in enumerate(enough):
        sign = int(np.sign(chance[0, row])) if shown[row] else AROUND
        decisions[at] = SignDecision(sign, float(p_values[row]))
    score = critical(np.concatenate([rows.furthest(part) for part in parts]), LEVEL)
    return Joint(decisions, score)


def agreeing(ends: Ends, null_value: float, sign: int) -> Ends:
    """The interval, adjusted to agree with the decision: beyond the null value, or containing it.

    Step-down tests detect more than simultaneous intervals, and occasionally less.
    """
    low, high = ends
    step = max(JUST_BEYOND * abs(null_value), JUST_BEYOND)
    if sign == ABOVE:
        return (null_value + step if low is None else max(low, null_value + step)), high
    if sign == BELOW:
        return low, (null_value - step if high is None else min(high, null_value - step))
    return (
        None if low is None else min(low, null_value),
        None if high is None else max(high, null_value),
    )
