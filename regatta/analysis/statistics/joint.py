"""Several differences as one two-sided family: which of them are distinguishable from 0.

By sign flips of whole blocks (sign_flips.py), so that a whole table is right in 19 of 20, however
many differences it has; whichever is shown first leaves the family to the others. The reach of the
intervals comes from sign flips of the residuals: they hold together.
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
"""Of an interval; None: it has none on that side."""
JUST_BEYOND = 1e-9
"""How far beyond a null value an end is put: a share of it, near 0 an amount."""


@dataclass(frozen=True)
class SignDecision:
    """Which sign a difference is shown to have."""

    sign: int
    """`BELOW`, `ABOVE`, or `AROUND` where neither is shown."""
    p_value: float
    """Of its being 0; corrected for all of the family."""


@dataclass(frozen=True)
class Joint:
    decisions: list[SignDecision]
    """In the order of the differences."""
    score: float
    """How far their intervals reach (`Mean.interval`); infinite where nothing can be decided."""


@dataclass(frozen=True)
class Mean:
    """Of one number a block."""

    value: float
    error: float
    count: int

    @classmethod
    def of_blocks(cls, blocks: Mapping[int, float]) -> Mean:
        rows = Rows.of([blocks])
        error = float(rows.errors[0]) if len(blocks) > 1 else 0.0
        return cls(float(rows.means[0]), error, len(blocks))

    def reach(self, score: float) -> float:
        """Of an interval, to both sides."""
        return 0.0 if self.error == 0 else errors_of(score, self.count) * self.error

    def interval(self, score: float) -> tuple[float, float]:
        reach = self.reach(score)
        return self.value - reach, self.value + reach

    def detectable(self, score: float) -> float:
        """The smallest truth that would have been told from 0 four times in five."""
        return self.reach(score) + float(special.stdtrit(self.count - 1, POWER)) * self.error


def errors_of(score: float, blocks: int) -> float:
    """How many standard errors a score is of so many blocks."""
    return math.inf if math.isinf(score) else float(t_of(score, np.array(blocks - 1)))


def decide_jointly(differences: Sequence[Mapping[int, float]], units: Units = BLOCKS) -> Joint:
    """Each is one number a unit; one of too few is not in the family."""
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
    """An interval that agrees with the decision: beside the null value, or around it.

    Stepping down sees more than intervals that hold together, and now and then less.
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
