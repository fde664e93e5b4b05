"""The sections of a group of cells: who won, by how much, at each step, and the charts."""

from collections.abc import Iterator
from dataclasses import replace

from regatta.judge.columns import AgainstBest
from regatta.judge.estimates import DRAWN
from regatta.judge.results import Analysis, CellResult, Group, rate_words
from regatta.judge.standings import LARGER, Verdict
from regatta.record.metrics import (
    CHARTED,
    ON_CORE,
    PRIMARY,
    STANDINGS,
    Metric,
    metric_named,
    side_of,
)
from regatta.show.against_best import READ, RelativeFigure, relative_figures, seen_sentence
from regatta.show.charts import latency_spec, metric_spec
from regatta.show.group_tables import step_tables, worker_columns
from regatta.show.numbers import (
    TOO_FEW_TO_SAY,
    around,
    between,
    capitalized,
    interval_of,
    plural,
    ratio_around,
    value_of,
)
from regatta.show.perf_run import run_section
from regatta.show.verdicts import FAMILIES, LEGEND, headline, mark, verdict_sentence
from regatta.show.view import (
    APPENDIX,
    DECIDES,
    FOLDED,
    OPEN,
    Chart,
    Figure,
    Heading,
    Panel,
    Row,
    Section,
    Table,
)

RIVAL = "?"
REFERENCE = "1"
"""The figure of a column's best, which the others are multiples of."""
LEVELS = f"{REFERENCE}, in {PRIMARY.unit}"
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
}
"""Title and unit of a metric's column."""
SIDES = {
    "server": "What each request cost the server",
    "client": "What each request cost the client",
    "answers": "What the clients saw",
}
HOW = (LEGEND, READ, FAMILIES)
"""How standings are read."""
BARS = "Bars and bands are 95 % intervals; rings are outliers."


def group_section(analysis: Analysis, group: Group, number: int) -> Section:
    """`number`: from 1, or 0 if it is the only one."""
    prefix = f"{number}-" if number else ""
    overall = (verdict_sentence(group, group.overall),) if len(group.steps) > 1 else ()
    tables = (replace(overview(group, compares(analysis)), title=""),)
    steps = tuple(
        _step(analysis, group, verdict, step, prefix)
        for verdict, step in zip(group.by_step, group.steps, strict=True)
    )
    key = metric_chart(analysis, group, PRIMARY, "server", prefix)
    return Section(
        capitalized(group.title) or "Standings",
        says=f"{headline(group)}.",
        text=overall,
        tables=tables if len(group.steps) > 1 else (),
        charts=(key,) if key else (),
        sections=(
            Section(
                f"At each {group.axis.quantity}",
                sections=steps,
                tabs=True,
                rank=OPEN if len(steps) > 1 else DECIDES,
            ),
            _all_metrics(analysis, group, prefix),
            Section(
                "Counters of each cell",
                sections=tuple(run_section(one, group.units) for one in group.cells),
                rank=APPENDIX,
            ),
        ),
        quiet=() if number else HOW,
    )


def _step(analysis: Analysis, group: Group, verdict: Verdict, step: int, prefix: str) -> Section:
    requests = sum(result.latencies.requests for result in group.at(step))
    workers = worker_columns(group, step)
    more = (
        [
            Section(
                "Latency distribution",
                charts=(_latencies(analysis, group, step, prefix),),
                rank=FOLDED,
            )
        ]
        if requests
        else []
    )
    more += [Section(workers.title, tables=(workers,), rank=APPENDIX)] if workers else []
    return Section(
        group.axis.count(step),
        text=(verdict_sentence(group, verdict),),
        tables=(standings(group, verdict, step), *step_tables(analysis, group, step)),
        sections=tuple(more),
    )


def standings(group: Group, verdict: Verdict, step: int) -> Table:
    """A row a contender: each figure as a ratio to the best of its column, and below it itself."""
    relative = relative_figures(group, step)
    rows = tuple(
        Row(
            name,
            tuple(_figure(result, of, relative.get((name, of.name))) for of in STANDINGS),
            mark(verdict, name),
            remarks(result),
        )
        for result in group.at(step)
        for name in [result.cell.contender]
    )
    header = (Heading("design"), *(Heading(*HEADINGS[of.name], of.says) for of in STANDINGS))
    return Table("", seen_sentence(group, step), header, rows)


def remarks(result: CellResult) -> tuple[str, ...]:
    """What is wrong with a contender's trials."""
    counts = {
        "failed": result.failed,
        "client-bound": result.client_bound,
        "disturbed": result.held_up,
    }
    said = (f"{plural(count, 'trial')} {what}" for what, count in counts.items() if count)
    return (*said, *filter(None, [rate_words(result)]))


def _figure(result: CellResult, metric: Metric, relative: RelativeFigure | None) -> Figure:
    estimate = result.estimates[side_of(metric), metric.name]
    number = estimate.low if estimate.value is None else estimate.value
    value, interval = value_of(estimate), interval_of(estimate)
    if relative is None:
        return Figure(value, interval, number=number)
    level = f"{value} [{interval}]" if interval else value
    return Figure(relative.value, relative.interval, level, number=number)


def overview(group: Group, compares: bool) -> Table:
    """A row a contender, a column a step: ratios to the best of the column, in which the machine's
    drift cancels. The last row has the level of the best.

    `compares`: other tables beside it have ratios, so that a level must have its unit."""
    columns = [
        _column(group, verdict, step, compares)
        for verdict, step in zip(group.by_step, group.steps, strict=True)
    ]
    names = dict.fromkeys(name for column in columns for name in column if name != LEVELS)
    if any(LEVELS in column for column in columns):
        names[LEVELS] = None
    rows = tuple(
        Row(name, tuple(column.get(name, Figure("")) for column in columns)) for name in names
    )
    header = (Heading(group.axis.many), *(Heading(f"{step:,}") for step in group.steps))
    return Table(group.title, overview_title(compares, bool(group.units.sitting_of)), header, rows)


def overview_title(compares: bool, sittings: bool) -> str:
    if not compares:
        return f"Server CPU per request, {PRIMARY.unit} ± its 95 % interval"
    within = "by sitting" if sittings else "within blocks"
    return f"Server CPU per request, times that of the best ± its 95 % interval, {within}"


def compares(analysis: Analysis) -> bool:
    """Whether any figure is a ratio."""
    return any(_ratios(group, step) for group in analysis.groups for step in group.steps)


def _ratios(group: Group, step: int) -> dict[str, AgainstBest]:
    """By contender, for all that can be compared with the best."""
    return {
        one.contender: one
        for one in group.against
        if (one.at, one.metric) == (step, PRIMARY.name) and ratio_around(one)
    }


def _column(group: Group, verdict: Verdict, step: int, compares: bool) -> dict[str, Figure]:
    ratios = _ratios(group, step)
    best = next((one.best for one in ratios.values()), None)
    found: dict[str, Figure] = {}
    for result in group.at(step):
        name, marked = result.cell.contender, sign(verdict, result)
        cpu = result.estimates["server", PRIMARY.name]
        value, half = around(cpu)
        if name == best:
            found[LEVELS] = Figure(value, f"±{half}" if half else "")
            found[name] = Figure(REFERENCE, mark=marked)
        elif name in ratios:
            value, half = ratio_around(ratios[name]) or (value, half)
            found[name] = Figure(value, f"±{half}" if half else "", mark=marked)
        elif result.failed and not result.ok:
            found[name] = Figure("failed", mark=marked)
        else:
            unit = f" {PRIMARY.unit}" if compares and cpu.value is not None else ""
            # A level among ratios is shown without its interval, which is in the report.
            alone = bool(ratios) or not half
            found[name] = Figure(
                f"{value}{unit if alone else ''}", "" if alone else f"±{half}{unit}", mark=marked
            )
    return found


def sign(verdict: Verdict, result: CellResult) -> str:
    """The star, or the mark of a rival that cannot be compared; empty for others."""
    name = result.cell.contender
    known = result.estimates["server", PRIMARY.name].value is not None
    return mark(verdict, name) or (RIVAL if known and name in verdict.rivals else "")


def lead_words(verdict: Verdict) -> str:
    """The interval of the winner's lead; empty where it bounds nothing."""
    if verdict.lead is None or verdict.low is None or verdict.high is None:
        return ""
    says = between(verdict.lead, verdict.low, verdict.high)
    return f" ({says})" if verdict.outcome == LARGER and says != TOO_FEW_TO_SAY else ""


def metric_chart(
    analysis: Analysis, group: Group, metric: Metric, side: str, prefix: str
) -> Chart | None:
    """Over the axis; None if no contender has the metric."""

    known = (result.estimates.get((side, metric.name)) for result in group.cells)
    if not any(one is not None and one.state in DRAWN for one in known):
        return None
    return Chart(
        f"{prefix}{side}-{metric.name}",
        f"{side.capitalize()}: {metric.label}",
        f"{metric.says.rstrip('.')}. {BARS}",
        (Panel("", metric.unit, metric_spec(analysis, group, metric, side)),),
        decides=metric is PRIMARY and side == "server",
    )


def _latencies(analysis: Analysis, group: Group, step: int, prefix: str) -> Chart:
    title = f"Share of the requests that were answered within a time, {group.axis.count(step)}"
    says = "Pooled over all timed trials; further left is faster."
    return Chart(
        f"{prefix}latency-{step}",
        title,
        says,
        (Panel("", "", latency_spec(analysis, group, step)),),
    )


def _all_metrics(analysis: Analysis, group: Group, prefix: str) -> Section:
    """The charts of each side, and what has no figure."""
    charts: dict[str, list[Chart]] = {side: [] for side in SIDES}
    missing: dict[str, list[str]] = {side: [] for side in SIDES}
    for tab, side, metric in charted(group):
        chart = metric_chart(analysis, group, metric, side, prefix)
        if chart is None:
            missing[tab].append(f"{metric.label} ({_why(group, metric, side)})")
        elif not chart.decides:
            charts[tab].append(chart)
    sections = tuple(
        Section(
            side.capitalize(),
            text=(f"{says}.",),
            charts=tuple(charts[side]),
            quiet=(f"Without a figure: {', '.join(missing[side])}.",) if missing[side] else (),
        )
        for side, says in SIDES.items()
    )
    return Section("All metrics", sections=sections, tabs=True, rank=APPENDIX)


def charted(group: Group) -> Iterator[tuple[str, str, Metric]]:
    """Tab, side and metric of each chart, also for each kind of core."""
    known = sorted({key for result in group.cells for key in result.estimates})
    for metric in CHARTED:
        on_a_core = f"{metric.name}{ON_CORE}"
        for side in metric.sides:
            tab = "answers" if metric.sides == ("client",) else side
            yield tab, side, metric
            for of_side, name in known:
                if of_side == side and name.startswith(on_a_core):
                    yield tab, side, metric_named(name)


def _why(group: Group, metric: Metric, side: str) -> str:
    known = (result.estimates.get((side, metric.name)) for result in group.cells)
    return ", ".join(sorted({estimate.state for estimate in known if estimate is not None}))


MEANS = {
    "★": "★ the least, by a clear margin",
    "☆": "☆ not distinguishable from the least",
    RIVAL: f"{RIVAL} may be as good",
}
UNIT = f"{PRIMARY.unit}: this machine, this hour only"


def signs(group: Group) -> set[str]:
    """All that the group's tables have."""
    return {
        sign(verdict, result)
        for verdict, step in zip(group.by_step, group.steps, strict=True)
        for result in group.at(step)
    }
