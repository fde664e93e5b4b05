"""Which of two gaps is wider; a gap is the distance from the highest to the lowest of some figures.

The highest and the lowest are not known beforehand, and the widest observed gap is biased upwards.
So no gap is measured: each difference of two figures of one is compared with each of the other, and
all are rows of the family (statistics/joint.py). The second gap is wider if one of its differences
is larger than all of the first's, and narrower if for each of its differences the first has a
larger one. Both follow from simultaneous signs, and the interval from the rows' simultaneous
intervals.

If all figures are positive, differences are of logarithms: a gap is a ratio.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from regatta.judge.claims.comparisons import Comparison
from regatta.judge.claims.evidence import Blocks, common_blocks
from regatta.judge.claims.result import (
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimPart,
    Verdict,
)
from regatta.judge.contrast import Scale, outward
from regatta.judge.statistics.joint import (
    ABOVE,
    AROUND,
    BELOW,
    Ends,
    Mean,
    SignDecision,
    agreeing,
)
from regatta.judge.statistics.percentile_comparison import FEWEST_BLOCKS, TOO_FEW_BLOCKS
from regatta.judge.statistics.units import BLOCKS, Units

VERDICTS: dict[int, Verdict] = {ABOVE: SUPPORTED, BELOW: REFUTED, AROUND: UNDECIDED}


@dataclass(frozen=True)
class Gaps:
    """Two gaps: figures, or their logarithms, over the same units."""

    first: Sequence[Blocks]
    second: Sequence[Blocks]
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

    def wider(self, rows: Sequence[float], turned: Sequence[float]) -> float:
        """How much wider the second is, from a statistic of each row and of the reversed row.

        The maximum over the second's differences of the minimum over the first's. It applies to
        values, to lower and upper ends, and to signs.
        """
        each = len(self.first) * (len(self.first) - 1)
        starts = range(0, len(rows), each)
        return max(min(known[start : start + each]) for known in (rows, turned) for start in starts)

    def in_units(self) -> Blocks:
        """How much wider the second is, unit by unit."""
        found = {}
        for at in self.second[0]:
            alone = [row[at] for row in self.rows]
            found[at] = self.wider(alone, [-value for value in alone])
        return found


@dataclass(frozen=True)
class GapTest:
    """A comparison of two gaps, ready to be decided together with all others."""

    comparison: Comparison
    gaps: Gaps
    units: Units

    def differences(self) -> list[Blocks]:
        return self.gaps.rows

    def decided(self, decisions: Sequence[SignDecision], score: float) -> ClaimPart:
        means = [Mean.of_blocks(row) for row in self.gaps.rows]
        values = [mean.value for mean in means]
        wider = self.gaps.wider(values, [-value for value in values])
        enough = means[0].count >= self.units.fewest
        sign = self._sign(decisions)
        nearest = min(means, key=lambda mean: abs(abs(mean.value) - abs(wider)))
        ends = self._ends(means, score, sign) if enough else (None, None)
        return ClaimPart(
            label=self.comparison.label,
            scale=self.gaps.scale,
            value=self._out(wider),
            low=ends[0],
            high=ends[1],
            p_value=self._p_value(values, decisions, wider) if enough else None,
            blocks=means[0].count,
            verdict=VERDICTS[sign] if enough else TOO_FEW,
            detectable=self._out(nearest.detectable(score)) if enough else None,
            claimed_low=self._out(0.0),
        )

    def _sign(self, decisions: Sequence[SignDecision]) -> int:
        signs = [one.sign for one in decisions]
        return int(self.gaps.wider(signs, [-sign for sign in signs]))

    def _ends(self, means: Sequence[Mean], score: float, sign: int) -> Ends:
        lows, highs = zip(*(mean.interval(score) for mean in means), strict=True)
        low = self.gaps.wider(lows, [-high for high in highs])
        high = self.gaps.wider(highs, [-low for low in lows])
        return agreeing((self._out(low), self._out(high)), self._out(0.0), sign)

    def _p_value(
        self, values: Sequence[float], decisions: Sequence[SignDecision], wider: float
    ) -> float:
        """Of not being wider, or not being narrower, whichever the value suggests."""
        way = 1 if wider >= 0 else -1
        sure, turned = (
            [
                1 - one.p_value if way * side * value > 0 else 0.0
                for value, one in zip(values, decisions, strict=True)
            ]
            for side in (1, -1)
        )
        if way == 1:
            return 1 - self.gaps.wider(sure, turned)
        return self.gaps.wider([1 - one for one in sure], [1 - one for one in turned])

    def _out(self, inner: float) -> float:
        return outward(inner, self.gaps.scale)


def gaps_of(columns: Sequence[Blocks], *, differences: bool, units: Units = BLOCKS) -> Gaps | str:
    """From one number a block a figure: the first half is one gap, the second half the other."""
    common = common_blocks(columns)
    logs = not differences and all(column[at] > 0 for column in columns for at in common)
    taken = [
        units.gathered({at: math.log(column[at]) if logs else column[at] for at in common})
        for column in columns
    ]
    if len(taken[0]) < FEWEST_BLOCKS:
        return TOO_FEW_BLOCKS
    middle = len(taken) // 2
    return Gaps(taken[:middle], taken[middle:], "ratio" if logs else "difference")
