"""The rate that each contender of a matched load holds: sentences, table, charts, CSV and JSON."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from textwrap import shorten
from typing import Any

from regatta.judge.columns import AgainstBest
from regatta.judge.estimates import DRAWN, MEASURED, Estimate
from regatta.judge.held_rates import AT_LEAST, HOLDS, NOTHING, HeldGroup, HeldRate
from regatta.judge.results import Analysis
from regatta.judge.standings import LARGER, NO_DIFFERENCE, seen
from regatta.record.cell import AXES
from regatta.record.metrics import P50, P99
from regatta.record.rate_search import CLIENT
from regatta.show.charts import knee_spec
from regatta.show.numbers import DASH, capitalized, detectable, fixed, ratio_words
from regatta.show.verdicts import listed
from regatta.show.view import COLUMNS, FOLDED, Chart, Panel, Section, Table, table_of

DIGITS = 3
MOST_LINES = 6
SAYS = (
    "The highest rate, in requests a second, at which 99 % of due requests were started and "
    "answered, the backlog did not grow, p99 was at most {limit:g} ms and the client used at most "
    "half its capacity; with its 95 % interval over the blocks of the search."
)
KNEES = {"p50": P50, "p99": P99}
KNEE_SAYS = (
    "Up to the rate that each contender holds. Bars and bands are 95 % intervals; a point without "
    "one may be higher. The knee is where latency rises much faster than the rate."
)


def rounded_rate(rate: float) -> str:
    """31,412 as `31,400`: the search resolves a few per cent, so three digits are enough."""
    size = math.floor(math.log10(rate))
    return f"{round(rate, DIGITS - 1 - size):,.0f}"


def ends_of(rate: Estimate) -> str:
    """Of its interval, without one that is a factor of 11 away: two blocks bound little."""
    assert rate.value is not None, "what has an interval was measured"
    low, high = (
        rounded_rate(end) if end and seen(max(end / rate.value, rate.value / end)) else ""
        for end in (rate.low, rate.high)
    )
    if low and high:
        return f"{low} to {high}"
    return f"{low} or more" if low else f"{high} or less" if high else ""


def sentence(held: HeldRate, brief: bool = False) -> str:
    """`select holds 31,400 a second (30,900 to 31,800)`, with the reason if that is not the
    server's capacity."""
    words = f"{held.cell.contender} {held.state}"
    if held.rate.value is not None:
        ends = ends_of(held.rate)
        words += f" {rounded_rate(held.rate.value)} a second" + (f" ({ends})" if ends else "")
    if held.state == HOLDS or not held.why:
        return words
    return f"{words}: {CLIENT if brief and held.why.startswith(CLIENT) else held.why}"


def held_lines(analysis: Analysis) -> list[str]:
    """A line a contender, prefixed with its group if there are several; cut to the width of the
    screen and to a few lines."""
    several = len(analysis.held) > 1
    lines = [
        (f"{group.title}: " if several else "") + sentence(held, brief=True)
        for group in analysis.held
        for held in group.members
    ]
    shown = [shorten(line, COLUMNS, placeholder=" …") for line in lines[:MOST_LINES]]
    more = len(lines) - MOST_LINES
    return [*shown, f"{more} more in the report"] if more > 0 else shown


def star(against: Sequence[AgainstBest], contender: str) -> str:
    """`★` for the one that is shown to be best in a column, `☆` for several that may be; else
    empty, as if one cannot be compared."""
    outcomes = {rival.contender: rival.outcome for rival in against}
    if not outcomes or not set(outcomes.values()) <= {LARGER, NO_DIFFERENCE}:
        return ""
    alike = {name for name, outcome in outcomes.items() if outcome == NO_DIFFERENCE}
    if contender not in alike | {against[0].best}:
        return ""
    return "☆" if alike else "★"


def verdict(group: HeldGroup) -> str:
    """Who holds how many times as much as whom, in one sentence; empty if nothing is compared."""
    if not group.against:
        return ""
    best = group.against[0].best
    outcomes = {rival.outcome for rival in group.against}
    if outcomes == {NO_DIFFERENCE}:
        names = listed([best, *(rival.contender for rival in group.against)])
        return f"held rate: {names} are not distinguishable ({detectable(group.against)})"
    behind = "; ".join(map(_behind, group.against))
    if not outcomes & {LARGER, NO_DIFFERENCE}:
        return f"held rate: {behind}"
    return f"held rate: {best} {'is best' if outcomes == {LARGER} else 'is ahead'}: {behind}"


def _behind(rival: AgainstBest) -> str:
    """`1.24 times what b holds (1.10–1.39)`"""
    if rival.outcome == NO_DIFFERENCE:
        return f"{rival.contender} is not distinguishable"
    if rival.value is None or rival.low is None:
        return f"{rival.contender} cannot be compared: {rival.outcome}"
    holds = f" times what {rival.contender} holds"
    if (known := rival.closed) is None:
        return f"at least {fixed(rival.low, 0 if rival.low >= 10 else 2)}{holds}"
    return ratio_words(known, of=holds)


def held_section(analysis: Analysis) -> Section:
    several = len(analysis.held) > 1
    return Section(
        "Held rates",
        tables=tuple(table for group in analysis.held for table in _table(group)),
        sections=tuple(
            Section(f"Up to the held rate: {group.title}", charts=charts, rank=FOLDED)
            for number, group in enumerate(analysis.held, start=1)
            if (charts := tuple(_charts(analysis, group, f"{number}-" if several else "")))
        ),
        name="held",
    )


def _table(group: HeldGroup) -> tuple[Table, ...]:
    compared = f" {capitalized(verdict(group))}." if group.against else ""
    return table_of(
        f"Held rates: {group.title}",
        SAYS.format(limit=group.p99_limit_ms) + compared,
        group.members,
        {
            "design": lambda held: held.cell.contender,
            "requests/s": lambda held: star(group.against, held.cell.contender) + _rate(held),
            "why not more": lambda held: held.why or DASH,
        },
    )


def _rate(held: HeldRate) -> str:
    if held.rate.value is None:
        return "nothing" if held.state == NOTHING else held.state
    least = "≥ " if held.state == AT_LEAST else ""
    return f"{least}{rounded_rate(held.rate.value)}\n{ends_of(held.rate)}".strip()


def _charts(analysis: Analysis, group: HeldGroup, prefix: str) -> Iterator[Chart]:
    """Of the knee: p50 and p99 against the offered rate."""
    for name, metric in KNEES.items():
        points = [getattr(point, name) for held in group.kneed for point in held.knee]
        if any(point.state in DRAWN for point in points):
            title = f"{metric.label} against the offered rate"
            panel = Panel("", metric.unit, knee_spec(analysis, group, metric, name))
            yield Chart(f"{prefix}knee-{name}", title, KNEE_SAYS, (panel,))


def held_json(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "title": group.title,
            "p99_limit_ms": group.p99_limit_ms,
            "against_best": [asdict(rival) for rival in group.against],
            "says": verdict(group),
            "contenders": [
                {
                    **{name: getattr(held.cell, name) for name in ("contender", *AXES)},
                    "state": held.state,
                    "rate_per_s": asdict(held.rate),
                    "why": held.why,
                    "says": sentence(held),
                    "knee": [asdict(point) for point in held.knee],
                }
                for held in group.members
            ],
        }
        for group in analysis.held
    ]


CsvRow = tuple[Any, int | None, str, str, str, Estimate]


def held_rows(analysis: Analysis) -> Iterator[CsvRow]:
    """Rows of summary.csv: cell, rate, side, metric, unit and estimate."""
    for held in (held for group in analysis.held for held in group.members):
        state = MEASURED if held.state == HOLDS else held.state
        if held.state == AT_LEAST and held.why.startswith(CLIENT):
            state = CLIENT
        rate = replace(held.rate, state=state)
        yield held.cell, None, "server", "held_rate_per_s", "/s", rate
        for point in held.knee:
            for name, metric in KNEES.items():
                yield held.cell, point.rate, "client", metric.name, "ms", getattr(point, name)
