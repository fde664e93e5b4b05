"""Who is as good as the best: in each column of the standings, each contender against the best.

Whoever looks best was chosen after the race, by the figures that are then compared. So the family
that Holm's correction counts is all pairs of contenders in all columns of the table, though only
those with the best are shown. With the family of these alone, 16 equal contenders would raise a
false alarm in 11 to 15 % of tables, where the level says 5 %; with all pairs it is 1 to 5 %.
"""

from dataclasses import dataclass
from itertools import combinations

from regatta.analysis.contrast import Contrast, Scale, of_blocks
from regatta.analysis.holm import Decision, holm
from regatta.analysis.metrics import BY_NAME, STANDINGS, Metric, side_of
from regatta.analysis.standings import LARGER, NO_DIFFERENCE, TOO_FEW, BlockValues


@dataclass(frozen=True)
class Against:
    """One contender against the best of a column."""

    at: int
    """The step of the axis."""
    metric: str
    side: str
    contender: str
    best: str
    scale: Scale | None
    """None, as all up to `detectable`, with fewer than two shared blocks."""
    value: float | None
    """The contender's divided by the best's, or less the best's: see `scale`."""
    low: float | None
    high: float | None
    level: float | None
    """The interval is drawn at 1 - level: Holm's step for this comparison."""
    p_value: float | None
    """Corrected."""
    blocks: int
    detectable: float | None
    """The smallest value that would have been seen four times in five."""
    outcome: str


@dataclass(frozen=True)
class Column:
    """One metric of all contenders at one step of the axis."""

    metric: Metric
    figures: dict[str, float]
    """As the table shows them."""
    blocks: dict[str, BlockValues]

    def best(self) -> str | None:
        known = [name for name in self.figures if name in self.blocks]
        if not known:
            return None
        pick = max if self.metric.better == "higher" else min
        return pick(known, key=self.figures.__getitem__)


def against_best(step: int, columns: list[Column]) -> list[Against]:
    """Every contender but the best, of every column of the table of one step."""
    contrasts = {
        (column.metric.name, first, second): of_blocks(column.blocks[first], column.blocks[second])
        for column in columns
        for first, second in _pairs(column)
    }
    compared = {key: one for key, one in contrasts.items() if isinstance(one, Contrast)}
    decided = holm([one.p_value() for one in compared.values()])
    decisions = dict(zip(compared, decided, strict=True))
    found: list[Against] = []
    for column in columns:
        best = column.best()
        for key in contrasts:
            if key[:2] == (column.metric.name, best):
                found.append(_against(step, key, compared.get(key), decisions.get(key)))
    return found


def _pairs(column: Column) -> list[tuple[str, str]]:
    """All of them, each once, with the best as the first of its own."""
    best = column.best()
    names = sorted(column.blocks, key=lambda name: name != best)
    return list(combinations(names, 2)) if best is not None else []


def _against(
    step: int, key: tuple[str, str, str], contrast: Contrast | None, decision: Decision | None
) -> Against:
    name, best, contender = key
    place = (step, name, side_of(BY_NAME[name]), contender, best)
    if contrast is None or decision is None:
        return Against(*place, None, None, None, None, None, None, 0, None, TOO_FEW)
    low, high = contrast.interval(decision.level)
    return Against(
        *place,
        scale=contrast.scale,
        value=contrast.value,
        low=low,
        high=high,
        level=decision.level,
        p_value=decision.adjusted_p,
        blocks=contrast.blocks,
        detectable=contrast.detectable(decision.level),
        outcome=LARGER if decision.rejected else NO_DIFFERENCE,
    )


assert all(metric.better for metric in STANDINGS), "every column has a best"
