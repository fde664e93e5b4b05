"""Tests of a comparison: its value, and on which side of a null value it lies.

There are tests of two cells, of a ratio whose values may be 0 or negative, and of one number a
block against a fixed value. For a null value each gives one number a block, with mean 0 if the null
value is true and above 0 beyond it. So all parts of all claims are one family of differences
(statistics/joint.py).
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from regatta.analysis.claims.evidence import Blocks
from regatta.analysis.claims.result import Scale
from regatta.analysis.contrast import outward
from regatta.analysis.statistics.joint import Ends, Mean, errors_of
from regatta.analysis.statistics.percentile_comparison import TOO_FEW_BLOCKS
from regatta.analysis.statistics.units import BLOCKS, Units

FEWEST_TO_SHOW = 2


class Test(Protocol):
    """Of one comparison."""

    @property
    def scale(self) -> Scale: ...
    @property
    def value(self) -> float | None: ...
    @property
    def blocks(self) -> int: ...
    def against(self, null_value: float) -> Blocks:
        """The excess of each block over the null value."""

    def interval(self, score: float) -> Ends:
        """An end is None if unbounded. `score`: the critical score of the family."""

    def detectable(self, score: float, /) -> float | None: ...


@dataclass(frozen=True)
class PairedContrast:
    """Two cells, paired within blocks."""

    first: Blocks
    second: Blocks
    scale: Scale

    @property
    def value(self) -> float:
        return self._out(self._mean.value)

    @property
    def blocks(self) -> int:
        return len(self._differences)

    def against(self, null_value: float) -> Blocks:
        at_null = math.log(null_value) if self.scale == "ratio" else null_value
        return {block: difference - at_null for block, difference in self._differences.items()}

    def interval(self, score: float) -> Ends:
        low, high = self._mean.interval(score)
        return self._out(low), self._out(high)

    def detectable(self, score: float) -> float:
        return self._out(self._mean.detectable(score))

    @property
    def _differences(self) -> Blocks:
        common = sorted(self.first.keys() & self.second.keys())
        if self.scale == "ratio":
            return {block: math.log(self.second[block] / self.first[block]) for block in common}
        return {block: self.second[block] - self.first[block] for block in common}

    @property
    def _mean(self) -> Mean:
        return Mean.of_blocks(self._differences)

    def _out(self, inner: float) -> float:
        return outward(inner, "difference" if self.scale == "difference" else "ratio")


@dataclass(frozen=True)
class FiellerRatio:
    """The ratio second / first, where the first may be 0 or negative.

    Fieller's method: k is in the interval if second - k x first, paired in blocks, may be 0.
    """

    first: Blocks
    second: Blocks
    scale: Scale = "ratio"

    @property
    def blocks(self) -> int:
        return len(self._common)

    @property
    def value(self) -> float | None:
        below = sum(self.first[block] for block in self._common)
        return sum(self.second[block] for block in self._common) / below if below > 0 else None

    def against(self, null_value: float) -> Blocks:
        return {
            block: self.second[block] - null_value * self.first[block] for block in self._common
        }

    def interval(self, score: float) -> Ends:
        """The ends solve (mean second - k mean first)^2 = reach^2 x its squared error."""
        if self.value is None or math.isinf(score):
            return None, None
        both = np.array([[of[block] for block in self._common] for of in (self.first, self.second)])
        first, second = (float(mean) for mean in both.mean(axis=1))
        errors = np.cov(both) / self.blocks * errors_of(score, self.blocks) ** 2
        square, constant = first**2 - float(errors[0, 0]), second**2 - float(errors[1, 1])
        linear = first * second - float(errors[0, 1])
        root = math.sqrt(max(linear**2 - square * constant, 0.0))
        if square > 0:
            return (linear - root) / square, (linear + root) / square
        # The first may be 0, so there is no upper bound.
        return ((linear - root) / square if square < 0 < constant else None), None

    def detectable(self, _score: float) -> float | None:
        return None

    @property
    def _common(self) -> list[int]:
        return sorted(self.first.keys() & self.second.keys())


@dataclass(frozen=True)
class Level:
    """One number a unit against a fixed value: a growth exponent, or a figure."""

    values: Blocks
    scale: Scale

    @property
    def value(self) -> float:
        return self._mean.value

    @property
    def blocks(self) -> int:
        return len(self.values)

    def against(self, null_value: float) -> Blocks:
        return {block: value - null_value for block, value in self.values.items()}

    def interval(self, score: float) -> Ends:
        return self._mean.interval(score)

    def detectable(self, score: float) -> float | None:
        """For an exponent, relative to proportional growth; None for figures."""
        if self.scale != "exponent":
            return None
        return 1 + Mean.of_blocks(self.against(1.0)).detectable(score)

    @property
    def _mean(self) -> Mean:
        return Mean.of_blocks(self.values)


def compare_two(
    first: Blocks, second: Blocks, *, differences: bool, times: bool, units: Units = BLOCKS
) -> Test | str:
    """`differences`: subtract the values; `times`: the claim is about their ratio.

    The test has one number a unit for each of the two, over the blocks that both have.
    """
    common = sorted(first.keys() & second.keys())
    both = [{block: values[block] for block in common} for values in (first, second)]
    in_differences = differences or any(value <= 0 for values in both for value in values.values())
    mine, theirs = (
        units.gathered(values) if in_differences else _in_logs(values, units) for values in both
    )
    if len(mine) < FEWEST_TO_SHOW:
        return TOO_FEW_BLOCKS
    if in_differences:
        return FiellerRatio(mine, theirs) if times else PairedContrast(mine, theirs, "difference")
    return PairedContrast(mine, theirs, "ratio")


def hold_one(values: Blocks, scale: Scale, units: Units = BLOCKS) -> Level | str:
    """A test of one number a block."""
    found = units.gathered(values)
    return TOO_FEW_BLOCKS if len(found) < FEWEST_TO_SHOW else Level(found, scale)


def _in_logs(values: Blocks, units: Units) -> Blocks:
    """Geometric means over the blocks of each unit, as for ratios."""
    if not units.sitting_of:
        return values
    logs = units.gathered({block: math.log(value) for block, value in values.items()})
    return {number: math.exp(value) for number, value in logs.items()}
