"""Each contender against the best, in each column of the standings.

Each column is a separate family over all steps of the axis, decided in the same way as the
standings (statistics/comparisons_with_best.py); the primary column reuses their decisions. The
reference is a contender that served the load and was not client-bound, if there is one. Other
contenders get a ratio only if they are shown to be worse.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
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
    Verdict,
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

    def pair(self, first: str, second: str, units: Units) -> PercentileComparison | str:
        assert self.fraction is not None
        return compare_percentiles(
            self.requests[first], self.requests[second], self.fraction, units
        )

    @cached_property
    def scale(self) -> Scale:
        """A difference for figures that may be 0 and for counts near 0."""
        known = [values.values() for values in self.blocks.values() if values]
        near = self.metric.name in COUNTS and min(map(fmean, known), default=0.0) < NEAR_ZERO
        return "difference" if near or min(map(min, known), default=0.0) <= 0 else "ratio"

    @cached_property
    def losses(self) -> dict[str, BlockValues]:
        """Values on a scale on which more is worse."""
        inner = math.log if self.scale == "ratio" else float
        sign = -1 if self.metric.better == "higher" else 1
        return {
            name: {block: sign * inner(value) for block, value in values.items()}
            for name, values in self.blocks.items()
        }

    def figure(self, loss: float) -> float:
        """The inverse of `losses`."""
        return outward(-loss if self.metric.better == "higher" else loss, self.scale)

    def best(self, standing_of: Mapping[str, Standing], names: list[str]) -> str | None:
        """The smallest percentile, or mean loss, among those not shown to be worse."""
        known = [name for name in names if name not in standing_of or not standing_of[name].worse]
        sizes = self.figures
        if self.fraction is None:
            sizes = {name: sum(of.values()) / len(of) for name, of in self.losses.items() if of}
        return min(known, key=lambda name: (sizes.get(name, math.inf), name), default=None)


def against_best(
    columns: list[Column],
    decided: Sequence[Mapping[str, Standing]] | None = None,
    units: Units = BLOCKS,
) -> list[AgainstBest]:
    """Every contender but the best, for one metric at each step.

    `decided`: the decisions of the standings, for the primary metric. They are reused unless a
    barred contender leads.
    """
    if decided is None or any(
        column.best(standing_of, list(column.figures)) not in (None, *column.references)
        for column, standing_of in zip(columns, decided, strict=True)
    ):
        decided = _decided(columns, units)
    return [
        _against(column, name, best, standing_of.get(name), units)
        for column, standing_of in zip(columns, decided, strict=True)
        if (best := column.best(standing_of, column.references)) is not None
        for name in column.figures
        if name != best
    ]


def confirmed(found: list[AgainstBest], by_step: list[Verdict]) -> list[AgainstBest]:
    """Those of the primary metric, whose leads busy time must show too."""
    doubted = {(verdict.at, *lead) for verdict in by_step for lead in verdict.unconfirmed}
    return [
        replace(against, outcome=UNCONFIRMED)
        if against.outcome == LARGER and (against.at, against.best, against.contender) in doubted
        else against
        for against in found
    ]


def _decided(columns: list[Column], units: Units) -> list[dict[str, Standing]]:
    references = [column.references for column in columns]
    if not columns or columns[0].fraction is None:
        return standings([[column.losses] for column in columns], units, references)
    pairs = []
    for column in columns:
        # Of each pair, the difference in the share of slow requests, by block.
        compared = {
            (name, other): column.pair(other, name, units)
            for name, other in combinations(sorted(column.requests), 2)
        }
        pairs.append(
            {
                names: pair.against(1.0)
                for names, pair in compared.items()
                if isinstance(pair, PercentileComparison)
            }
        )
    return standings_of_pairs(pairs, units, references)


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
    pair = None if column.fraction is None else column.pair(best, name, units)
    if standing is None or isinstance(pair, str):
        return without
    if name not in column.references and not standing.worse:
        return replace(without, outcome=NOT_COMPARED)
    outcome = LARGER if standing.worse else NO_DIFFERENCE
    decided = replace(without, p_value=standing.p_value, outcome=outcome)
    if pair is not None:
        # The decision is the family's; value and interval come from this pair alone.
        ends = pair.interval(standing.score)
        low, high = agreeing(ends, 1.0, ABOVE if standing.worse else AROUND)
        smallest = pair.detectable(standing.score)
        return replace(
            decided,
            scale=pair.scale,
            value=pair.value,
            low=low,
            high=high,
            blocks=pair.blocks,
            detectable=None if smallest is None else seen(smallest),
        )
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


assert all(metric.better for metric in STANDINGS), "every column has a best"
