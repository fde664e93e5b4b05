"""Tests of a comparison: its value, on which side of a null value it lies, and the verdict that the
family decides.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np

from regatta.judge.claims.comparisons import Comparison
from regatta.judge.claims.evidence import Blocks
from regatta.judge.claims.result import (
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimPart,
    Scale,
    Verdict,
)
from regatta.judge.contrast import outward
from regatta.judge.statistics.joint import (
    ABOVE,
    BELOW,
    Ends,
    Mean,
    SignDecision,
    agreeing,
    errors_of,
)
from regatta.judge.statistics.percentile_comparison import TOO_FEW_BLOCKS
from regatta.judge.statistics.units import BLOCKS, Units

# Tests of a comparison: its value, and on which side of a null value it lies. There are tests of
# two cells, of a ratio whose values may be 0 or negative, and of one number a block against a fixed
# value. For a null value each gives one number a block, with mean 0 if the null value is true and
# above 0 beyond it. So all parts of all claims are one family of differences (statistics/joint.py).

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


NEAR_ZERO = "its reference may be 0, so a relative margin is undefined"


@dataclass(frozen=True)
class ComparisonTest:
    """Ready to be decided together with all others."""

    comparison: Comparison
    test: Test
    claimed: Ends
    units: Units

    @property
    def null_values(self) -> list[float]:
        return [null_value for null_value in self.claimed if null_value is not None]

    def differences(self) -> list[Blocks]:
        """One row for each null value, and one for whether the reference exceeds 0."""
        found = [self.test.against(null_value) for null_value in self.null_values]
        return [*found, self.test.first] if self._may_have_no_reference(self.test) else found

    def _may_have_no_reference(self, test: Test) -> TypeGuard[FiellerRatio]:
        """Whether equality is claimed within a share of a figure that may be 0."""
        return isinstance(test, FiellerRatio) and len(self.null_values) > 1

    def decided(self, decisions: Sequence[SignDecision], score: float) -> ClaimPart:
        enough = self.test.blocks >= self.units.fewest
        by_null_value = dict(zip(self.null_values, decisions, strict=False))
        ends: Ends = self.test.interval(score) if enough else (None, None)
        for null_value, found in by_null_value.items() if enough else ():
            ends = agreeing(ends, null_value, found.sign)
        verdict, reason = self._verdict(by_null_value, decisions[-1]) if enough else (TOO_FEW, "")
        return ClaimPart(
            label=self.comparison.label,
            scale=self.test.scale,
            value=self.test.value,
            low=ends[0],
            high=ends[1],
            p_value=self._p_value(by_null_value) if enough else None,
            blocks=self.test.blocks,
            verdict=verdict,
            detectable=self.test.detectable(score) if enough else None,
            claimed_low=self.claimed[0],
            claimed_high=self.claimed[1],
            reason=reason,
        )

    def _verdict(
        self, decisions: Mapping[float, SignDecision], last: SignDecision
    ) -> tuple[Verdict, str]:
        low, high = (
            None if null_value is None else decisions[null_value].sign
            for null_value in self.claimed
        )
        if low in (ABOVE, None) and high in (BELOW, None):
            return SUPPORTED, ""
        if self._may_have_no_reference(self.test) and last.sign != ABOVE:
            return UNDECIDED, NEAR_ZERO
        return (REFUTED if low == BELOW or high == ABOVE else UNDECIDED), ""

    def _p_value(self, decisions: Mapping[float, SignDecision]) -> float:
        """With two null values, both must be excluded, or the nearer one crossed."""
        low, high = min(decisions), max(decisions)
        value = self.test.value
        if value is not None and low <= value <= high:
            return max(decision.p_value for decision in decisions.values())
        return decisions[nearest(self.null_values, value)].p_value


def nearest(null_values: list[float], value: float | None) -> float:
    """The null value nearest to `value`; any if there is no value."""
    return min(null_values, key=lambda null_value: abs(null_value - (value or 0.0)))
