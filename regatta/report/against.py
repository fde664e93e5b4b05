"""Each contender against the best of each column, in words: by how much, or what would be seen."""

from regatta.analysis.analyse import Group
from regatta.analysis.columns import Against
from regatta.analysis.metrics import BY_NAME, STANDINGS
from regatta.analysis.standings import NO_DIFFERENCE, TOO_FEW
from regatta.report.numbers import (
    DASH,
    TOO_FEW_TO_SAY,
    between,
    more_than_one,
    short,
    times,
)
from regatta.report.text_table import Table

ALIKE = "≈"
"""Stands at a figure that was not told from the best of its column."""


def against_table(group: Group, step: int) -> Table | None:
    """A row for each contender, a column for each metric; None where nobody can be compared."""
    known = {(one.contender, one.metric): one for one in group.against if one.at == step}
    if not any(one.outcome != TOO_FEW for one in known.values()):
        return None
    best = {one.metric: one.best for one in known.values()}
    metrics = [metric for metric in STANDINGS if metric.name in best]
    rows = []
    for result in group.at(step):
        name = result.cell.contender
        row = [
            "best" if best[metric.name] == name else _figure(known.get((name, metric.name)))
            for metric in metrics
        ]
        rows.append([name, *row])
    says = (
        "Paired within blocks: the ratio to the best of the others, or the difference where a "
        "figure may be 0; the intervals of a column hold together at 95 %. "
        f"{ALIKE} no difference seen; beside it the smallest that would have been seen four times "
        "in five."
    )
    return Table(
        "Against the best of each column", says, ["design", *(m.label for m in metrics)], rows
    )


def alike(group: Group, step: int) -> set[tuple[str, str]]:
    """Contender and metric of all figures that were not told from the best of their column."""
    return {(one.contender, one.metric) for one in _unseen(group, step)}


def seen_sentence(group: Group, step: int) -> str:
    """What the smallest visible difference was, column by column; empty if all were visible."""
    parts = []
    for metric in STANDINGS:
        found = [one for one in _unseen(group, step) if one.metric == metric.name]
        sizes = [one for one in found if one.detectable]
        if sizes:
            ends = sorted(sizes, key=lambda one: one.detectable or 0.0)
            low, high = _smallest(ends[0]), _smallest(ends[-1])
            parts.append(f"{metric.label} {low if low == high else f'{low} to {high}'}")
    if not parts:
        return ""
    return (
        f"{ALIKE} no difference seen from the best of its column. The smallest that would have "
        f"been seen four times in five: {', '.join(parts)}."
    )


def _unseen(group: Group, step: int) -> list[Against]:
    return [one for one in group.against if one.at == step and one.outcome == NO_DIFFERENCE]


def _figure(one: Against | None) -> str:
    if one is None or one.value is None or one.low is None or one.high is None:
        return DASH
    if one.outcome == NO_DIFFERENCE:
        value = f"{ALIKE} {_sees(one)}"
    elif one.scale == "ratio":
        value = f"×{times(one.value)}"
    else:
        value = _signed(one.value)
    if one.scale == "ratio":
        return f"{value}\n{between(one.value, one.low, one.high)}"
    return f"{value}\n{_signed(one.low)} to {_signed(one.high)}"


def _sees(one: Against) -> str:
    if one.detectable is None:
        return TOO_FEW_TO_SAY
    return f"sees {_smallest(one)}" if one.detectable else "the same"


def _smallest(one: Against) -> str:
    if one.detectable is None:
        return TOO_FEW_TO_SAY
    if one.scale == "ratio":
        return more_than_one(one.detectable)
    return f"{short(one.detectable)} {BY_NAME[one.metric].unit}".strip()


def _signed(value: float) -> str:
    text = short(abs(value))
    return text if text.strip("0.") == "" else f"{'+' if value > 0 else '-'}{text}"
