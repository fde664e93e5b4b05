"""Tests of a comparison: its value, on which side of a null value it lies, and its verdict.

For a null value each test gives one number a unit, with mean 0 if the null value is true and above
0 beyond it. So all parts of all claims are one family of differences (statistics/joint.py). Tests
of percentiles are in statistics/percentile_comparison.py.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TypeGuard

import numpy as np

from regatta.judge.claims.comparisons import SHARE, Comparison
from regatta.judge.claims.evidence import Blocks, NoFigureError, common_blocks
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
from regatta.judge.statistics.percentile_comparison import (
    FEWEST_BLOCKS,
    TOO_FEW_BLOCKS,
    OnePercentile,
    PercentileComparison,
)
from regatta.judge.statistics.units import BLOCKS, Units

NO_DIFFERENCE, NO_MORE = "that one needs more is not shown", "it needs less, not more"
NEAR_ZERO = "its reference may be 0, so a relative margin is undefined"


def shown(inner: float, scale: Scale) -> float:
    """A ratio from its logarithm; anything else as it is."""
    return outward(inner, "ratio" if scale == "ratio" else "difference")


@dataclass(frozen=True)
class Level:
    """One number a unit: a difference, a ratio's logarithm, a growth exponent, or a figure."""

    values: Blocks
    scale: Scale

    @property
    def value(self) -> float:
        return shown(self._mean.value, self.scale)

    @property
    def blocks(self) -> int:
        return len(self.values)

    def against(self, null_value: float) -> Blocks:
        """The excess of each block over the null value."""
        at_null = math.log(null_value) if self.scale == "ratio" else null_value
        return {block: value - at_null for block, value in self.values.items()}

    def interval(self, score: float) -> Ends:
        """`score`: the critical score of the family. An end of a test is None if unbounded."""
        low, high = self._mean.interval(score)
        return shown(low, self.scale), shown(high, self.scale)

    def detectable(self, score: float) -> float | None:
        """For an exponent, relative to proportional growth; None for figures."""
        if self.scale == "exponent":
            return 1 + Mean.of_blocks(self.against(1.0)).detectable(score)
        return None if self.scale == "figure" else shown(self._mean.detectable(score), self.scale)

    @property
    def _mean(self) -> Mean:
        return Mean.of_blocks(self.values)


@dataclass(frozen=True)
class FiellerRatio:
    """The ratio second / first over the same units, where the first may be 0 or negative.

    Fieller's method: k is in the interval if second - k x first, paired in blocks, may be 0.
    """

    first: Blocks
    second: Blocks
    scale: Scale = "ratio"

    @property
    def blocks(self) -> int:
        return len(self.first)

    @property
    def value(self) -> float | None:
        below = sum(self.first.values())
        return sum(self.second.values()) / below if below > 0 else None

    def against(self, null_value: float) -> Blocks:
        return {at: self.second[at] - null_value * self.first[at] for at in self.first}

    def interval(self, score: float) -> Ends:
        """The ends solve (mean second - k mean first)^2 = reach^2 x its squared error."""
        if self.value is None or math.isinf(score):
            return None, None
        both = np.array([[of[at] for at in self.first] for of in (self.first, self.second)])
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


@dataclass(frozen=True)
class Gaps:
    """Which of two gaps is wider; a gap is the distance from the highest to the lowest figure.

    The highest and the lowest are not known beforehand, and the widest observed gap is biased
    upwards. So no gap is measured: each difference of two figures of one is compared with each of
    the other, and all are rows of the family. The second gap is wider if one of its differences is
    larger than all of the first's, and narrower if for each of its differences the first has a
    larger one. Both follow from simultaneous signs, and the interval from the rows' simultaneous
    intervals.
    """

    first: Sequence[Blocks]
    second: Sequence[Blocks]
    """Figures over the same units; for a ratio their logarithms."""
    scale: Scale

    @cached_property
    def rows(self) -> list[Blocks]:
        """Each difference of the second gap minus each of the first, in both directions."""
        return [
            {at: high[at] - low[at] - way * (other[at] - another[at]) for at in high}
            for low, high in combinations(self.second, 2)
            for another, other in combinations(self.first, 2)
            for way in (1, -1)
        ]

    @cached_property
    def _means(self) -> list[Mean]:
        return [Mean.of_blocks(row) for row in self.rows]

    def wider(self, rows: Sequence[float], turned: Sequence[float] | None = None) -> float:
        """How much wider the second is, from a statistic of each row and of the reversed row.

        The maximum over the second's differences of the minimum over the first's. It applies to
        values, to lower and upper ends, and to signs.
        """
        reversed_rows = [-value for value in rows] if turned is None else turned
        each = len(self.first) * (len(self.first) - 1)
        return float(np.reshape([*rows, *reversed_rows], (-1, each)).min(axis=1).max())

    def in_units(self) -> Blocks:
        """How much wider the second is, unit by unit."""
        return {at: self.wider([row[at] for row in self.rows]) for at in self.second[0]}

    @property
    def _inner(self) -> float:
        return self.wider([mean.value for mean in self._means])

    @property
    def value(self) -> float:
        return shown(self._inner, self.scale)

    @property
    def blocks(self) -> int:
        return self._means[0].count

    def interval(self, score: float) -> Ends:
        lows, highs = zip(*(mean.interval(score) for mean in self._means), strict=True)
        low = self.wider(lows, [-high for high in highs])
        high = self.wider(highs, [-end for end in lows])
        return shown(low, self.scale), shown(high, self.scale)

    def detectable(self, score: float) -> float:
        """By the row that decides."""
        wider = abs(self._inner)
        nearest = min(self._means, key=lambda mean: abs(abs(mean.value) - wider))
        return shown(nearest.detectable(score), self.scale)

    def together(self, decisions: Sequence[SignDecision]) -> SignDecision:
        """What the decisions on its rows say of the gap."""
        way = 1 if self._inner >= 0 else -1
        # Of not being wider, or not being narrower, whichever the value suggests.
        sure, turned = (
            [
                1 - decision.p_value if way * side * mean.value > 0 else 0.0
                for mean, decision in zip(self._means, decisions, strict=True)
            ]
            for side in (1, -1)
        )
        sign = int(self.wider([decision.sign for decision in decisions]))
        if way == 1:
            return SignDecision(sign, 1 - self.wider(sure, turned))
        return SignDecision(sign, self.wider([1 - p for p in sure], [1 - p for p in turned]))


Test = Level | FiellerRatio | Gaps | PercentileComparison | OnePercentile


def compare_two(
    first: Blocks, second: Blocks, *, differences: bool, times: bool, units: Units = BLOCKS
) -> Level | FiellerRatio:
    """`differences`: subtract the values; `times`: the claim is about their ratio."""
    common = common_blocks((first, second))
    both = [{block: values[block] for block in common} for values in (first, second)]
    logs = not differences and all(value > 0 for values in both for value in values.values())
    mine, theirs = (_in_logs(values, units) if logs else units.gathered(values) for values in both)
    if len(mine) < FEWEST_BLOCKS:
        raise NoFigureError(TOO_FEW_BLOCKS)
    if logs:
        # Not a difference of logarithms: equal rows of the family must stay equal.
        return Level({at: math.log(theirs[at] / mine[at]) for at in mine}, "ratio")
    if times:
        return FiellerRatio(mine, theirs)
    return Level({at: theirs[at] - mine[at] for at in mine}, "difference")


def _in_logs(values: Blocks, units: Units) -> Blocks:
    """Geometric means over the blocks of each unit, as for ratios."""
    if not units.sitting_of:
        return values
    logs = units.gathered({block: math.log(value) for block, value in values.items()})
    return {number: math.exp(value) for number, value in logs.items()}


def gaps_of(columns: Sequence[Blocks], *, differences: bool, units: Units = BLOCKS) -> Gaps:
    """From one number a block a figure: the first half is one gap, the second half the other.

    If all figures are positive, differences are of logarithms: a gap is a ratio.
    """
    common = common_blocks(columns)
    logs = not differences and all(column[at] > 0 for column in columns for at in common)
    taken = [
        units.gathered({at: math.log(column[at]) if logs else column[at] for at in common})
        for column in columns
    ]
    if len(taken[0]) < FEWEST_BLOCKS:
        raise NoFigureError(TOO_FEW_BLOCKS)
    middle = len(taken) // 2
    return Gaps(taken[:middle], taken[middle:], "ratio" if logs else "difference")


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
        if isinstance(self.test, Gaps):
            return self.test.rows
        found = [self.test.against(null_value) for null_value in self.null_values]
        return [*found, self.test.first] if self._may_have_no_reference(self.test) else found

    def _may_have_no_reference(self, test: Test) -> TypeGuard[FiellerRatio]:
        """Whether equality within a share of a figure is claimed, or a share of a difference, and
        that may be 0."""
        of_share = self.comparison.quantity == SHARE
        return isinstance(test, FiellerRatio) and (of_share or len(self.null_values) > 1)

    def decided(self, decisions: Sequence[SignDecision], score: float) -> ClaimPart:
        test = self.test
        part = ClaimPart(
            test.value,
            label=self.comparison.label,
            scale=test.scale,
            verdict=TOO_FEW,
            blocks=test.blocks,
            claimed_low=self.claimed[0],
            claimed_high=self.claimed[1],
        )
        if test.blocks < self.units.fewest:
            return part
        if isinstance(test, Gaps):
            decisions = [test.together(decisions)]
        by_null_value = dict(zip(self.null_values, decisions, strict=False))
        ends = test.interval(score)
        if self.comparison.quantity == SHARE and decisions[-1].sign != ABOVE:
            ends = None, None
        else:
            for null_value, found in by_null_value.items():
                ends = agreeing(ends, null_value, found.sign)
        verdict, reason = self._verdict(by_null_value, decisions[-1])
        return replace(
            part,
            low=ends[0],
            high=ends[1],
            p_value=self._p_value(by_null_value, decisions[-1]),
            verdict=verdict,
            detectable=test.detectable(score),
            reason=reason,
        )

    def _verdict(
        self, decisions: Mapping[float, SignDecision], last: SignDecision
    ) -> tuple[Verdict, str]:
        low, high = (None if end is None else decisions[end].sign for end in self.claimed)
        if self.comparison.quantity == SHARE and last.sign != ABOVE:
            return (REFUTED, NO_MORE) if last.sign == BELOW else (UNDECIDED, NO_DIFFERENCE)
        if low in (ABOVE, None) and high in (BELOW, None):
            return SUPPORTED, ""
        if self._may_have_no_reference(self.test) and last.sign != ABOVE:
            return UNDECIDED, NEAR_ZERO
        return (REFUTED if low == BELOW or high == ABOVE else UNDECIDED), ""

    def _p_value(self, decisions: Mapping[float, SignDecision], last: SignDecision) -> float:
        """With two null values, both must be excluded, or the nearer one crossed; of a share its
        null value, and that there is a difference."""
        value = self.test.value
        if self.comparison.quantity == SHARE:
            return max(last.p_value, *(decision.p_value for decision in decisions.values()))
        if value is not None and min(decisions) <= value <= max(decisions):
            return max(decision.p_value for decision in decisions.values())
        nearest = min(decisions, key=lambda null_value: abs(null_value - (value or 0.0)))
        return decisions[nearest].p_value
