"""The standings of a group as tables: each contender against the best of each column.

The ratio comes before the figure itself in every form of the report: machine drift cancels in a
ratio within blocks, but not in a figure.
"""

import math
from collections.abc import Sequence

from regatta.judge.columns import AgainstBest
from regatta.judge.results import Analysis, CellResult, Group, rate_words
from regatta.judge.standings import LARGER, NO_DIFFERENCE, Verdict
from regatta.record.metrics import (
    BUSY,
    COMPANIONS,
    NEAR_ZERO,
    P99,
    PRIMARY,
    STANDINGS,
    THROUGHPUT,
    Metric,
    side_of,
)
from regatta.show.numbers import (
    TOO_FEW_TO_SAY,
    around,
    between,
    factor,
    interval_of,
    more_than_one,
    plural,
    ratio_around,
    short,
    times,
    value_of,
)
from regatta.show.verdicts import mark
from regatta.show.view import DECIDES, OPEN, Figure, Heading, Row, Table

ALIKE = "≈"
"""Marks a figure that is not distinguishable from the best of its column."""
RIVAL = "?"
REFERENCE = "1"
"""The figure of a column's best, which the others are multiples of."""
LEVELS = f"{REFERENCE}, in {PRIMARY.unit}"
READ = (
    "First the ratio to the best of the column (a difference where a figure may be 0, or where the "
    f"smallest count is below {NEAR_ZERO} a request), paired within blocks (with several sittings, "
    "by the mean of each); all intervals of a column hold simultaneously at 95 %. Pairing cancels "
    "machine drift; the interval covers this sitting, and other builds and hours only if the race "
    "has several sittings. Below it the figure itself with its 95 % interval, valid for this "
    "machine in this hour only."
)
"""How the figures of a table are read."""
HEADINGS = {
    "cpu_time_per_request_us": ("server CPU", "µs/request"),
    "cpu_busy_per_request_us": ("CPU busy", "µs/request"),
    "context_switches_per_request": ("switches", "/request"),
    "page_faults_per_request": ("page faults", "/request"),
    "latency_p50_ms": ("p50", "ms"),
    "latency_p99_ms": ("p99", "ms"),
    "latency_max_ms": ("max", "ms"),
    "throughput_per_s": ("throughput", "/s"),
    "peak_memory_mib": ("memory", "MiB"),
    COMPANIONS.name: ("companions", "µs"),
}
"""Title and unit of a metric's column."""
MEANS = {
    "★": "★ the least, by a clear margin",
    "☆": "☆ not distinguishable from the least",
    RIVAL: f"{RIVAL} may be as good",
}
UNIT = f"{PRIMARY.unit}: this machine, this hour only"
BRIEF = (PRIMARY, COMPANIONS, BUSY, P99, THROUGHPUT)
"""What a paper has of each contender."""


def standings(group: Group, verdict: Verdict, step: int) -> Table:
    """A row a contender: each figure as a ratio to the best of its column, and below it itself."""
    relative = relative_figures(group, step)
    columns = with_companions(STANDINGS, group, step)
    rows = tuple(
        Row(
            name,
            tuple(_figure(result, of, relative.get((name, of.name))) for of in columns),
            mark(verdict, name),
            _remarks(result),
        )
        for result in group.at(step)
        for name in [result.cell.contender]
    )
    header = [
        Heading(*HEADINGS[of.name], of.says, DECIDES if of in BRIEF else OPEN) for of in columns
    ]
    return Table("", seen_sentence(group, step), (Heading("design"), *header), rows)


def with_companions(columns: Sequence[Metric], group: Group, step: int) -> list[Metric]:
    """Their CPU time behind the first column, if any server has companions."""
    used = any(result.estimates["server", COMPANIONS.name].value for result in group.at(step))
    return [*columns[:1], *[COMPANIONS] * used, *columns[1:]]


def _remarks(result: CellResult) -> tuple[str, ...]:
    """What is wrong with a contender's trials."""
    counts = {
        "failed": result.failed,
        "client-bound": result.client_bound,
        "disturbed": result.held_up,
    }
    said = (f"{plural(count, 'trial')} {what}" for what, count in counts.items() if count)
    return (*said, *filter(None, [rate_words(result)]))


def _figure(result: CellResult, metric: Metric, relative: tuple[str, str] | None) -> Figure:
    estimate = result.estimates[side_of(metric), metric.name]
    number = estimate.low if estimate.value is None else estimate.value
    value, interval = value_of(estimate), interval_of(estimate)
    if relative is None:
        return Figure(value, interval, number=number)
    return Figure(*relative, f"{value} [{interval}]" if interval else value, number=number)


def relative_figures(group: Group, step: int) -> dict[tuple[str, str], tuple[str, str]]:
    """By contender and metric, for all figures that can be compared: `×1.08`, `+0.4` or `best`,
    with ≈ where it is not distinguishable from the best, and the interval."""
    found = {}
    for rival in group.against:
        if rival.at == step and (known := _relative(rival)) is not None:
            found[rival.contender, rival.metric] = known
            found[rival.best, rival.metric] = "best", ""
    return found


def _relative(rival: AgainstBest) -> tuple[str, str] | None:
    """None where too few blocks bound nothing."""
    if rival.value is None:
        return None
    alike = f" {ALIKE}" if rival.outcome == NO_DIFFERENCE else ""
    if (known := rival.closed) is None:
        # One-sided: a percentile whose slow requests come mostly from one trial.
        ends = f"over {factor(rival.low)}" if rival.low is not None else ""
        ends = ends or (f"under {factor(rival.high)}" if rival.high is not None else "")
        return (f"×{factor(rival.value)}{alike}", ends) if ends else None
    if rival.scale == "ratio":
        interval = between(known)
        return None if interval == TOO_FEW_TO_SAY else (f"×{times(known)}{alike}", interval)
    return f"{_signed(known.value)}{alike}", f"{_signed(known.low)} to {_signed(known.high)}"


def _signed(value: float) -> str:
    text = short(abs(value))
    return text if text.strip("0.") == "" else f"{'+' if value > 0 else '-'}{text}"


def seen_sentence(group: Group, step: int) -> str:
    """The smallest detectable difference of each column; empty if all differences were detected."""
    parts = []
    for metric in STANDINGS:
        place = step, metric.name, NO_DIFFERENCE
        sizes = []
        for rival in group.against:
            if (rival.at, rival.metric, rival.outcome) == place and (size := rival.detectable):
                # A ratio below 1 where more is better.
                is_ratio = rival.scale == "ratio"
                says = more_than_one(size) if is_ratio else f"{short(size)} {metric.unit}".strip()
                sizes.append((abs(math.log(size)) if is_ratio else size, says))
        if sizes:
            low, high = min(sizes)[1], max(sizes)[1]
            parts.append(f"{metric.label} {low if low == high else f'{low} to {high}'}")
    if not parts:
        return ""
    return (
        f"{ALIKE} not distinguishable from the column's best. Detectable at 80 % power: "
        f"{', '.join(parts)}."
    )


def compares(analysis: Analysis) -> bool:
    """Whether any figure of an overview is a ratio."""
    return any(_ratios(group, step) for group in analysis.groups for step in group.steps)


def overview(analysis: Analysis, group: Group) -> Table:
    """A row a contender, a column a step: ratios to the best of the column, in which the machine's
    drift cancels. The last row has the level of the best."""
    # Beside tables that have ratios a level must have its unit.
    beside_ratios = compares(analysis)
    columns = [
        _column(group, verdict, step, beside_ratios)
        for verdict, step in zip(group.by_step, group.steps, strict=True)
    ]
    names = dict.fromkeys(name for column in columns for name in column if name != LEVELS)
    if any(LEVELS in column for column in columns):
        names[LEVELS] = None
    rows = tuple(
        Row(name, tuple(column.get(name, Figure("")) for column in columns)) for name in names
    )
    header = (Heading(group.axis.many), *(Heading(f"{step:,}") for step in group.steps))
    within = "by sitting" if group.units.sitting_of else "within blocks"
    says = f"times that of the best ± its 95 % interval, {within}"
    if not beside_ratios:
        says = f"{PRIMARY.unit} ± its 95 % interval"
    return Table(group.title, f"Server CPU per request, {says}", header, rows)


def _ratios(group: Group, step: int) -> dict[str, tuple[str, str]]:
    """By contender, for all that can be compared with the best, and for the best itself."""
    found: dict[str, tuple[str, str]] = {}
    for rival in group.against:
        is_here = (rival.at, rival.metric) == (step, PRIMARY.name)
        if is_here and (ratio := ratio_around(rival)):
            found |= {rival.contender: ratio, rival.best: (REFERENCE, "")}
    return found


def _column(group: Group, verdict: Verdict, step: int, beside_ratios: bool) -> dict[str, Figure]:
    ratios = _ratios(group, step)
    found: dict[str, Figure] = {}
    for result in group.at(step):
        name = result.cell.contender
        cpu = result.estimates["server", PRIMARY.name]
        # A rival that cannot be compared has a mark, too.
        is_rival = cpu.value is not None and name in verdict.rivals
        marked = mark(verdict, name) or (RIVAL if is_rival else "")
        unit = f" {PRIMARY.unit}" if beside_ratios and cpu.value is not None else ""
        value, half = around(cpu)
        if name in ratios:
            if ratios[name][0] == REFERENCE:
                found[LEVELS] = Figure(value, f"±{half}" if half else "")
            value, half = ratios[name]
        elif result.failed and not result.ok:
            value, half = "failed", ""
        elif half and not ratios:
            half += unit
        else:
            # A level among ratios is shown without its interval, which is in the report.
            value, half = value + unit, ""
        found[name] = Figure(value, f"±{half}" if half else "", mark=marked)
    return found


def lead_words(verdict: Verdict) -> str:
    """The interval of the winner's lead; empty where it bounds nothing."""
    if verdict.lead is None:
        return ""
    says = between(verdict.lead)
    return f" ({says})" if verdict.outcome == LARGER and says != TOO_FEW_TO_SAY else ""
