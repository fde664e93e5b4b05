"""The rate that each contender of a matched load holds: sentences, tables, CSV and JSON."""

import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from textwrap import shorten
from typing import Any

from regatta.analysis.estimates import MEASURED, Estimate
from regatta.analysis.held_rates import AT_LEAST, HOLDS, NOTHING, HeldGroup, HeldRate, Point
from regatta.analysis.results import Analysis
from regatta.ledger.axes import AXES
from regatta.race.matched.judge import CLIENT
from regatta.report.soundness.notes import COLUMNS
from regatta.report.text.numbers import DASH, interval_of, plural, value_of
from regatta.report.text.table import Table

DIGITS = 3
MOST_LINES = 6
SAYS = (
    "The highest rate, in requests a second, at which 99 % of due requests were started and "
    "answered, the backlog did not grow, p99 was at most {limit:g} ms and the client used at most "
    "half its capacity; with its 95 % interval over the blocks of the search."
)
KNEE_SAYS = (
    "At shares of each contender's held rate, with 95 % intervals over the blocks. The knee is "
    "where latency rises much faster than the rate."
)


def rounded_rate(rate: float) -> str:
    """31,412 as `31,400`: the search resolves a few per cent, so three digits are enough."""
    size = math.floor(math.log10(rate))
    return f"{round(rate, DIGITS - 1 - size):,.0f}"


def figure(one: HeldRate) -> str:
    """`holds 31,400 a second (30,900 to 31,800)`."""
    rate = one.rate
    if rate.value is None:
        return one.state
    value = f"{one.state} {rounded_rate(rate.value)} a second"
    if rate.low is None:
        return value
    high = "" if rate.high is None else f" to {rounded_rate(rate.high)}"
    return f"{value} ({rounded_rate(rate.low)}{high or ' or more'})"


def sentence(one: HeldRate, brief: bool = False) -> str:
    """With the reason if the figure is not the server's capacity."""
    words = f"{one.cell.contender} {figure(one)}"
    if one.state == HOLDS or not one.why:
        return words
    return f"{words}: {CLIENT if brief and one.why.startswith(CLIENT) else one.why}"


def sentences(analysis: Analysis, brief: bool = False) -> Iterator[str]:
    """A line a contender, prefixed with its group if there are several."""
    for group in analysis.held:
        title = f"{group.title}: " if len(analysis.held) > 1 else ""
        for one in group.members:
            yield f"{title}{sentence(one, brief)}"


def held_lines(analysis: Analysis) -> list[str]:
    """The same for the screen, cut to its width and to a few lines."""
    lines = list(sentences(analysis, brief=True))
    shown = [shorten(line, COLUMNS, placeholder=" …") for line in lines[:MOST_LINES]]
    more = len(lines) - MOST_LINES
    return [*shown, f"{more} more in the report"] if more > 0 else shown


def held_table(group: HeldGroup) -> Table:
    rows = [[one.cell.contender, _rate(one), one.why or DASH] for one in group.members]
    title = f"Held rates: {group.title}"
    header = ["design", "requests/s", "why not more"]
    return Table(title, SAYS.format(limit=group.p99_limit_ms), header, rows)


def knee_tables(group: HeldGroup) -> list[Table]:
    """p50 and p99 at each share of the held rate; empty if the study asks for no knee."""
    shares = sorted({point.share for one in group.kneed for point in one.knee})
    if not shares:
        return []
    header = ["design", *(f"{share * 100:g} %" for share in shares)]
    tables = []
    for name in ("p50", "p99"):
        rows = [
            [
                one.cell.contender,
                *(_latency({point.share: point for point in one.knee}, at, name) for at in shares),
            ]
            for one in group.kneed
        ]
        title = f"{name} in ms up to the held rate: {group.title}"
        tables.append(Table(title, KNEE_SAYS, header, rows))
    return tables


def held_tables(analysis: Analysis) -> list[Table]:
    return [table for group in analysis.held for table in (held_table(group), *knee_tables(group))]


def held_json(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "title": group.title,
            "p99_limit_ms": group.p99_limit_ms,
            "contenders": [
                {
                    **{name: getattr(one.cell, name) for name in ("contender", *AXES)},
                    "state": one.state,
                    "rate_per_s": asdict(one.rate),
                    "why": one.why,
                    "says": sentence(one),
                    "knee": [asdict(point) for point in one.knee],
                }
                for one in group.members
            ],
        }
        for group in analysis.held
    ]


CsvRow = tuple[Any, int | None, str, str, str, Estimate]


def held_rows(analysis: Analysis) -> Iterator[CsvRow]:
    """Rows of summary.csv: cell, rate, side, metric, unit and estimate."""
    for group in analysis.held:
        for one in group.members:
            state = MEASURED if one.state == HOLDS else one.state
            if one.state == AT_LEAST and one.why.startswith(CLIENT):
                state = CLIENT
            rate = replace(one.rate, state=state)
            yield one.cell, None, "server", "held_rate_per_s", "/s", rate
            for point in one.knee:
                yield one.cell, point.rate, "client", "latency_p50_ms", "ms", point.p50
                yield one.cell, point.rate, "client", "latency_p99_ms", "ms", point.p99


def _rate(one: HeldRate) -> str:
    rate = one.rate
    if rate.value is None:
        return "nothing" if one.state == NOTHING else one.state
    least = "≥ " if one.state == AT_LEAST else ""
    value = f"{least}{rounded_rate(rate.value)}"
    if rate.low is None:
        return value
    high = " or more" if rate.high is None else f"{DASH}{rounded_rate(rate.high)}"
    return f"{value}\n{rounded_rate(rate.low)}{high}"


def _latency(points: dict[float, Point], share: float, name: str) -> str:
    if share not in points:
        return DASH
    point = points[share]
    estimate: Estimate = getattr(point, name)
    some = f"\n{estimate.trials} of {plural(point.blocks, 'block')}"
    known = f"{value_of(estimate)}\n{interval_of(estimate)}".strip()
    return known + (some if estimate.trials < point.blocks else "")
