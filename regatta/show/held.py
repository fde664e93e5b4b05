"""The rate that each contender of a matched load holds: sentences, tables, CSV and JSON."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from textwrap import shorten
from typing import Any

from regatta.judge.columns import AgainstBest
from regatta.judge.estimates import DRAWN, MEASURED, Estimate
from regatta.judge.held_rates import AT_LEAST, HOLDS, NOTHING, HeldGroup, HeldRate, Point
from regatta.judge.results import Analysis
from regatta.judge.standings import LARGER, NO_DIFFERENCE, seen
from regatta.record.cell import AXES
from regatta.record.metrics import BY_NAME
from regatta.record.rate_search import CLIENT
from regatta.show.charts import knee_spec
from regatta.show.numbers import (
    DASH,
    between,
    capitalized,
    fixed,
    interval_of,
    more_than_one,
    plural,
    times,
    value_of,
)
from regatta.show.verdicts import listed
from regatta.show.view import COLUMNS, FOLDED, Chart, Panel, Section, Table, plain_table

DIGITS = 3
MOST_LINES = 6
SAYS = (
    "The highest rate, in requests a second, at which 99 % of due requests were started and "
    "answered, the backlog did not grow, p99 was at most {limit:g} ms and the client used at most "
    "half its capacity; with its 95 % interval over the blocks of the search."
)
KNEES = {"p50": BY_NAME["latency_p50_ms"], "p99": BY_NAME["latency_p99_ms"]}
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
    if one.rate.value is None:
        return one.state
    ends = ends_of(one.rate)
    value = f"{one.state} {rounded_rate(one.rate.value)} a second"
    return f"{value} ({ends})" if ends else value


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


def sentence(one: HeldRate, brief: bool = False) -> str:
    """With the reason if the figure is not the server's capacity."""
    words = f"{one.cell.contender} {figure(one)}"
    if one.state == HOLDS or not one.why:
        return words
    return f"{words}: {CLIENT if brief and one.why.startswith(CLIENT) else one.why}"


def star(against: Sequence[AgainstBest], contender: str) -> str:
    """`★` for the one that is shown to be best in a column, `☆` for several that may be; else
    empty, as if one cannot be compared."""
    outcomes = {one.contender: one.outcome for one in against}
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
    outcomes = {one.outcome for one in group.against}
    if outcomes == {NO_DIFFERENCE}:
        names = listed([best, *(one.contender for one in group.against)])
        shown = max((one.detectable or math.inf for one in group.against), default=math.inf)
        seen = f"detectable at 80 % power: {more_than_one(shown)}"
        return f"held rate: {names} are not distinguishable ({seen})"
    leads = "is best" if outcomes == {LARGER} else "is ahead"
    return f"held rate: {best} {leads}: {'; '.join(map(_behind, group.against))}"


def _behind(one: AgainstBest) -> str:
    """`1.24 times what b holds (1.10–1.39)`"""
    if one.outcome == NO_DIFFERENCE:
        return f"{one.contender} is not distinguishable"
    if one.value is None or one.low is None:
        return f"{one.contender} cannot be compared: {one.outcome}"
    if one.high is None:
        least = fixed(one.low, 0 if one.low >= 10 else 2)
        return f"at least {least} times what {one.contender} holds"
    known = one.value, one.low, one.high
    return f"{times(*known)} times what {one.contender} holds ({between(*known)})"


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
    rows = [
        [one.cell.contender, star(group.against, one.cell.contender) + _rate(one), one.why or DASH]
        for one in group.members
    ]
    title = f"Held rates: {group.title}"
    header = ["design", "requests/s", "why not more"]
    compared = verdict(group)
    says = SAYS.format(limit=group.p99_limit_ms) + (f" {capitalized(compared)}." * bool(compared))
    return plain_table(title, says, header, rows)


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
        tables.append(plain_table(title, KNEE_SAYS, header, rows))
    return tables


def held_section(analysis: Analysis) -> Section:
    return Section(
        "Held rates",
        tables=tuple(held_table(group) for group in analysis.held),
        sections=tuple(
            Section(
                f"Up to the held rate: {group.title}",
                tables=tuple(knee_tables(group)),
                charts=charts,
                rank=FOLDED,
            )
            for number, group in enumerate(analysis.held, start=1)
            if (
                charts := tuple(
                    _charts(analysis, group, f"{number}-" if len(analysis.held) > 1 else "")
                )
            )
        ),
        name="held",
    )


def _charts(analysis: Analysis, group: HeldGroup, prefix: str) -> Iterator[Chart]:
    """Of the knee: p50 and p99 against the offered rate."""
    says = (
        "Up to the rate that each contender holds. Bars and bands are 95 % intervals; a point "
        "without one may be higher."
    )
    for name, metric in KNEES.items():
        points = [getattr(point, name) for one in group.kneed for point in one.knee]
        if any(point.state in DRAWN for point in points):
            title = f"{metric.label} against the offered rate"
            panel = Panel("", metric.unit, knee_spec(analysis, group, metric, name))
            yield Chart(f"{prefix}knee-{name}", title, says, (panel,))


def held_json(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "title": group.title,
            "p99_limit_ms": group.p99_limit_ms,
            "against_best": [asdict(one) for one in group.against],
            "says": verdict(group),
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
    return f"{least}{rounded_rate(rate.value)}\n{ends_of(rate)}".strip()


def _latency(points: dict[float, Point], share: float, name: str) -> str:
    if share not in points:
        return DASH
    point = points[share]
    estimate: Estimate = getattr(point, name)
    some = f"\n{estimate.trials} of {plural(point.blocks, 'block')}"
    known = f"{value_of(estimate)}\n{interval_of(estimate)}".strip()
    return known + (some if estimate.trials < point.blocks else "")
