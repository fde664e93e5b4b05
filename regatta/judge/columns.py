"""Each contender against the best, in each column of the standings.

Each column is a separate family over all steps of the axis, decided in the same way as the
standings (statistics/comparisons_with_best.py); the primary column reuses their decisions. The
reference is a contender that served the load and was not client-bound, if there is one. Other
contenders get a ratio only if they are shown to be worse.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import fmean

from regatta.judge.contrast import Scale, outward
from regatta.judge.interval import OpenInterval
from regatta.judge.standings import (
    LARGER,
    NO_DIFFERENCE,
    NOT_COMPARED,
    TOO_FEW,
    UNCONFIRMED,
    Standings,
    seen,
)
from regatta.judge.statistics.comparisons_with_best import (
    Standing,
    standings,
    standings_of_pairs,
)
from regatta.judge.statistics.joint import ABOVE, AROUND, agreeing
from regatta.judge.statistics.percentile_comparison import (
    PercentileComparison,
    Requests,
    compare_percentiles,
)
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.metrics import COUNTS, FRACTIONS, NEAR_ZERO, STANDINGS, Metric, side_of


@dataclass(frozen=True, kw_only=True)
class AgainstBest(OpenInterval):
    """One contender against the best of a column: its figure divided by that of the best other, or
    minus it (`scale`); with too few shared blocks it has no value."""

    at: int
    """The step of the axis."""
    metric: str
    side: str
    contender: str
    best: str
    outcome: str
    blocks: int = 0
    scale: Scale | None = None
    p_value: float | None = None
    """Adjusted for the family."""
    detectable: float | None = None
    """The smallest value detectable at 80 % power; None: too few blocks."""


@dataclass(frozen=True)
class Column:
    """One metric of all contenders at one step of the axis."""

    at: int
    metric: Metric
    figures: dict[str, float]
    """As shown in the table."""
    blocks: dict[str, BlockValues]
    requests: dict[str, Requests] = field(default_factory=dict)
    """Latencies by contender, if the metric is a percentile."""
    barred: Collection[str] = ()
    """Contenders that cannot win."""

    @property
    def references(self) -> list[str]:
        """Contenders that may be the best; all of them if all are barred."""
        free = [name for name in self.figures if name not in self.barred]
        return free or list(self.figures)

    @property
    def fraction(self) -> float | None:
        """Of the requests, if the metric is a percentile; else None."""
        return FRACTIONS.get(self.metric.name)

    def pair_differences(self, units: Units) -> dict[tuple[str, str], BlockValues]:
        """Of a percentile: each pair's difference in the share of slow requests, by block."""
        found = {}
        for name, other in combinations(sorted(self.requests), 2):
            pair = self.pair(other, name, units)
            if isinstance(pair, PercentileComparison):
                found[name, other] = pair.against(1.0)
        return found

    def pair(self, first: str, second: str, units: Units) -> PercentileComparison | str:
        assert self.fraction is not None
        return compare_percentiles(
            self.requests[first], self.requests[second], self.fraction, units
        )

    @property
    def scale(self) -> Scale:
        """A difference for figures that may be 0 and for counts near 0."""
        least = min(
            (min(values.values()) for values in self.blocks.values() if values), default=0.0
        )
        means = [fmean(values.values()) for values in self.blocks.values() if values]
        near = self.metric.name in COUNTS and min(means, default=0.0) < NEAR_ZERO
        return "difference" if near or least <= 0 else "ratio"

    @property
    def sign(self) -> int:
        return -1 if self.metric.better == "higher" else 1

    def losses(self) -> dict[str, BlockValues]:
        """Values on a scale on which more is worse."""
        inner = math.log if self.scale == "ratio" else float
        return {
            name: {block: self.sign * inner(value) for block, value in values.items()}
            for name, values in self.blocks.items()
        }

    def figure(self, loss: float) -> float:
        """The inverse of `losses`."""
        return outward(self.sign * loss, self.scale)


def against_best(
    columns: list[Column], decided: list[dict[str, Standing]] | None = None, units: Units = BLOCKS
) -> list[AgainstBest]:
    """Every contender but the best, for one metric at each step.

    `decided`: the decisions of the standings, for the primary metric. They are reused unless a
    barred contender leads.
    """
    if decided is None or any(map(_is_led_by_barred, columns, decided)):
        decided = _decided(columns, units)
    return [
        _against(column, name, best, known.get(name), units)
        for column, known in zip(columns, decided, strict=True)
        if (best := _best(column, known, column.references)) is not None
        for name in column.figures
        if name != best
    ]


def confirmed(found: list[AgainstBest], decided: Standings) -> list[AgainstBest]:
    """Those of the primary metric, whose leads busy time must show too."""
    doubted = set(decided.unconfirmed)
    return [
        replace(one, outcome=UNCONFIRMED)
        if one.outcome == LARGER and (one.at, one.best, one.contender) in doubted
        else one
        for one in found
    ]


def _is_led_by_barred(column: Column, standing_of: dict[str, Standing]) -> bool:
    best = _best(column, standing_of, list(column.figures))
    return best is not None and best not in column.references


def _decided(columns: list[Column], units: Units) -> list[dict[str, Standing]]:
    references = [column.references for column in columns]
    if columns and columns[0].fraction is not None:
        pairs = [column.pair_differences(units) for column in columns]
        return standings_of_pairs(pairs, units, references)
    return standings([[column.losses()] for column in columns], units, references)


def _best(column: Column, standing_of: dict[str, Standing], of: list[str]) -> str | None:
    """The smallest mean loss (or percentile) among those not shown to be worse."""
    known = [name for name in of if name not in standing_of or not standing_of[name].worse]
    if column.fraction is not None:
        return min(known, key=lambda name: (column.figures[name], name), default=None)
    losses = {
        name: sum(values.values()) / len(values)
        for name, values in column.losses().items()
        if values
    }
    return min(known, key=lambda name: (losses.get(name, math.inf), name), default=None)


def _against(
    column: Column, name: str, best: str, standing: Standing | None, units: Units
) -> AgainstBest:
    without = AgainstBest(
        at=column.at,
        metric=column.metric.name,
        side=side_of(column.metric),
        contender=name,
        best=best,
        outcome=TOO_FEW,
    )
    if standing is None:
        return without
    pair = None if column.fraction is None else column.pair(best, name, units)
    if isinstance(pair, str):
        return without
    if name not in column.references and not standing.worse:
        return replace(without, outcome=NOT_COMPARED)
    outcome = LARGER if standing.worse else NO_DIFFERENCE
    decided = replace(without, p_value=standing.p_value, outcome=outcome)
    if pair is None:
        return _with_means(decided, column, standing)
    return _with_percentiles(decided, pair, standing)


def _with_means(decided: AgainstBest, column: Column, standing: Standing) -> AgainstBest:
    low, high = sorted((column.figure(standing.low), column.figure(standing.high)))
    detectable = column.figure(standing.detectable)
    visible = column.scale == "difference" or seen(max(detectable, 1 / detectable)) is not None
    return replace(
        decided,
        scale=column.scale,
        value=column.figure(standing.value),
        low=low,
        high=high,
        blocks=standing.blocks,
        detectable=detectable if visible else None,
    )


def _with_percentiles(
    decided: AgainstBest, pair: PercentileComparison, standing: Standing
) -> AgainstBest:
    """The decision is the family's; value and interval come from this pair alone."""
    ends = pair.interval(standing.score)
    low, high = agreeing(ends, 1.0, ABOVE if standing.worse else AROUND)
    detectable = pair.detectable(standing.score)
    return replace(
        decided,
        scale=pair.scale,
        value=pair.value,
        low=low,
        high=high,
        blocks=pair.blocks,
        detectable=None if detectable is None else seen(detectable),
    )


assert all(metric.better for metric in STANDINGS), "every column has a best"
