"""Each contender against the best of each column, in words: by how much, or what is detectable.

The ratio comes before the figure itself in every form of the report: machine drift cancels in a
ratio within blocks, but not in a figure.
"""

import math
from dataclasses import dataclass

from regatta.judge.columns import AgainstBest
from regatta.judge.results import Group
from regatta.judge.standings import NO_DIFFERENCE
from regatta.record.metrics import BY_NAME, NEAR_ZERO, STANDINGS
from regatta.show.numbers import TOO_FEW_TO_SAY, between, more_than_one, short, times

ALIKE = "≈"
"""Marks a figure that is not distinguishable from the best of its column."""
READ = (
    "First the ratio to the best of the column (a difference where a figure may be 0, or where the "
    f"smallest count is below {NEAR_ZERO} a request), paired within blocks (with several sittings, "
    "by the mean of each); all intervals of a column hold simultaneously at 95 %. Pairing cancels "
    "machine drift; the interval covers this sitting, and other builds and hours only if the race "
    "has several sittings. Below it the figure itself with its 95 % interval, valid for this "
    "machine in this hour only."
)
"""How the figures of a table are read."""


@dataclass(frozen=True)
class RelativeFigure:
    """How a figure compares with the best of its column."""

    value: str
    """`×1.08`, `+0.4` or `best`; with ≈ where it is not distinguishable from the best."""
    interval: str


def relative_figures(group: Group, step: int) -> dict[tuple[str, str], RelativeFigure]:
    """By contender and metric, for all figures that can be compared."""
    known = [one for one in group.against if one.at == step]
    compared = {
        (one.contender, one.metric): found
        for one in known
        if (found := _relative_figure(one)) is not None
    }
    best = {(one.best, one.metric): RelativeFigure("best", "") for one in known}
    metrics = {metric for _, metric in compared}
    return compared | {key: one for key, one in best.items() if key[1] in metrics}


def seen_sentence(group: Group, step: int) -> str:
    """The smallest detectable difference of each column; empty if all differences were detected."""
    parts = []
    for metric in STANDINGS:
        sizes = [
            one
            for one in group.against
            if (one.at, one.metric, one.outcome) == (step, metric.name, NO_DIFFERENCE)
            and one.detectable
        ]
        if sizes:
            ends = sorted(sizes, key=_size)
            low, high = _smallest(ends[0]), _smallest(ends[-1])
            parts.append(f"{metric.label} {low if low == high else f'{low} to {high}'}")
    if not parts:
        return ""
    return (
        f"{ALIKE} not distinguishable from the column's best. Detectable at 80 % power: "
        f"{', '.join(parts)}."
    )


def _relative_figure(one: AgainstBest) -> RelativeFigure | None:
    """None where too few blocks bound nothing."""
    if one.value is None:
        return None
    alike = f" {ALIKE}" if one.outcome == NO_DIFFERENCE else ""
    if one.low is None or one.high is None:
        ends = _open(one.low, one.high)
        return RelativeFigure(f"×{times(one.value)}{alike}", ends) if ends else None
    if one.scale == "ratio":
        interval = between(one.value, one.low, one.high)
        if interval == TOO_FEW_TO_SAY:
            return None
        return RelativeFigure(f"×{times(one.value, one.low, one.high)}{alike}", interval)
    return RelativeFigure(
        f"{_signed(one.value)}{alike}", f"{_signed(one.low)} to {_signed(one.high)}"
    )


def _open(low: float | None, high: float | None) -> str:
    """A one-sided interval: a percentile whose slow requests come mostly from one trial."""
    if low is not None:
        return f"over {times(low)}"
    return "" if high is None else f"under {times(high)}"


def _size(one: AgainstBest) -> float:
    """Of what is detectable, also of a ratio below 1 (where more is better)."""
    assert one.detectable
    return abs(math.log(one.detectable)) if one.scale == "ratio" else one.detectable


def _smallest(one: AgainstBest) -> str:
    if one.detectable is None:
        return TOO_FEW_TO_SAY
    if one.scale == "ratio":
        return more_than_one(one.detectable)
    return f"{short(one.detectable)} {BY_NAME[one.metric].unit}".strip()


def _signed(value: float) -> str:
    text = short(abs(value))
    return text if text.strip("0.") == "" else f"{'+' if value > 0 else '-'}{text}"
