"""The section of one table: its standings, charts and further tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from regatta.judge.estimates import Estimate
from regatta.judge.overheads import WEIGHED, Difference
from regatta.judge.results import Analysis, Group
from regatta.judge.standings import Verdict
from regatta.judge.twins import twin_shares
from regatta.record.metrics import CHARTED, PRIMARY, Metric
from regatta.show.anatomy import anatomy_section, why_lines
from regatta.show.charts import latency_spec, metric_rows, metric_spec
from regatta.show.numbers import (
    DASH,
    capitalized,
    cell_of,
    interval_of,
    ratio_cell,
    short,
    value_of,
)
from regatta.show.requests import requests_section
from regatta.show.standings import READ, overview, standings
from regatta.show.trials import on_each_core, run_section
from regatta.show.verdicts import FAMILIES, LEGEND, headline, verdict_sentence
from regatta.show.view import (
    APPENDIX,
    FOLDED,
    OPEN,
    Chart,
    Panel,
    Section,
    Table,
    plain_table,
    table_of,
)


def _step_tables(analysis: Analysis, group: Group, step: int) -> Iterator[Table]:
    """The further tables that apply at this step of the axis."""
    yield from _beyond_baseline(analysis, group, step)
    shares = [share for share in twin_shares(group, analysis.names.twins) if share.at == step]
    yield from table_of(
        "Cost of the strategy",
        "A design ÷ its bare twin, the same strategy with nothing else in it: server CPU per "
        "request, paired within blocks, with its 95 % interval, which covers this sitting.",
        shares,
        {
            "design": lambda share: share.design,
            "ratio": lambda share: ratio_cell(share.ratio),
            "µs per request": lambda share: short(share.us),
            "its bare twin": lambda share: short(share.twin_us),
        },
    )
    yield from _memory(analysis, group, step)
    yield from table_of(
        "Connections per worker",
        "Means over timed trials, including the warm-up; workers are ranked within each trial.",
        [result for result in group.at(step) if result.workers],
        {
            "design": lambda result: result.cell.contender,
            "workers": lambda result: f"{len(result.workers)}",
            "busiest": lambda result: short(result.workers[0]),
            "median": lambda result: short(result.workers[len(result.workers) // 2]),
            "least busy": lambda result: short(result.workers[-1]),
            "share of the busiest": lambda result: (
                f"{result.workers[0] / sum(result.workers) * 100:.0f} %"
                if any(result.workers)
                else DASH
            ),
        },
    )


def _beyond_baseline(analysis: Analysis, group: Group, step: int) -> tuple[Table, ...]:
    """Each contender's cost beyond the baseline, with the published figures beside it."""
    baseline = analysis.baseline
    known = {found.contender: found for found in group.differences if found.at == step}
    if baseline is None or not known:
        return ()
    # Requests a trial, if that is the same for all cells of the step.
    cells = [result.cell for result in group.at(step)]
    counts = {cell.rounds * cell.connections if cell.rounds else None for cell in cells}
    requests = counts.pop() if len(counts) == 1 else None
    factors = {"µs per request": 1.0}
    if requests:
        factors[f"s for {requests:,}"] = requests / 1e6
    says = (
        f"Server CPU time minus that of {baseline.contender}, paired within blocks. In brackets: "
        "not distinguishable from 0. All intervals hold simultaneously at 95 %."
    )
    theirs: Mapping[str, Sequence[float | None]] = {}
    titles: list[str] = []
    if (published := baseline.published) and published.at in (step, None):
        theirs, titles = published.rows, list(map(_words, published.columns))
        says += f" Published, from the column “{titles[0]}” on: {published.source}"
    rows = [[baseline.contender, *["0"] * (len(factors) + len(titles))]]
    for name in (cell.contender for cell in cells):
        if name in known:
            figures = [_difference(known[name], factor) for factor in factors.values()]
            printed = [DASH if value is None else f"{value:g}" for value in theirs.get(name, ())]
            rows.append([name, *figures, *(printed or [""] * len(titles))])
    title = f"CPU time beyond {baseline.contender}"
    return (plain_table(title, says, ["design", *factors, *titles], rows),)


def _difference(found: Difference, factor: float) -> str:
    size = Estimate(**vars(found.through(lambda us: us * factor)))
    text = value_of(size) if found.larger else f"({value_of(size)})"
    return f"{text}\n{interval_of(size)}".strip()


def _words(column: str) -> str:
    """`digital_unix_s` as a title: `digital unix, s`."""
    name, _, unit = column.rpartition("_")
    return f"{name.replace('_', ' ')}, {unit}" if name else column


def _memory(analysis: Analysis, group: Group, step: int) -> tuple[Table, ...]:
    """With the cells that have the most idle connections; empty where memory was not measured."""
    here = [result.cell for result in group.at(step)]
    kib = {
        (slope.cell.contender, slope.metric): cell_of(slope.kib)
        for slope in reversed(analysis.memory_per_connection)
        if slope.cell in here
    }
    says = (
        "KiB per idle connection: the slope of memory over their number, with its 95 % interval. "
        "The first column is what the server's processes hold, the second what the kernel holds "
        "for them."
    )
    processes, kernel = (metric.name for metric in WEIGHED)
    if not any(metric == kernel for _, metric in kib):
        says += " The kernel's part is not supported here: it needs root and the memory controller."
    return table_of(
        "Memory per idle connection",
        says,
        [name for name in analysis.contenders if any(name == of for of, _ in kib)],
        {
            "contender": str,
            "processes": lambda name: kib.get((name, processes), DASH),
            "kernel": lambda name: kib.get((name, kernel), DASH),
        },
    )


SIDES = {
    "server": "What each request cost the server",
    "client": "What each request cost the client",
    "answers": "What the clients saw",
}
HOW = (LEGEND, READ, FAMILIES)
"""How standings are read."""
BARS = "Bars and bands are 95 % intervals."


def group_section(analysis: Analysis, group: Group, number: int) -> Section:
    """`number`: from 1, or 0 if it is the only one."""
    prefix = f"{number}-" if number else ""
    several = len(group.steps) > 1
    key = metric_chart(analysis, group, PRIMARY, "server", prefix)
    steps = tuple(
        _step(analysis, group, verdict, step, prefix)
        for verdict, step in zip(group.by_step, group.steps, strict=True)
    )
    only = steps[0]
    text, tables, below = only.text, only.tables, only.sections
    if several:
        text = (verdict_sentence(group, group.overall),)
        below = (Section(f"At each {group.axis.quantity}", sections=steps, tabs=True, rank=OPEN),)
        tables = (replace(overview(analysis, group), title=""),)
    return Section(
        capitalized(group.title) or "Standings",
        says=f"{headline(group)}.",
        text=text,
        tables=tables,
        charts=(key,) if key else (),
        sections=(
            *below,
            _all_metrics(analysis, group, prefix),
            Section(
                "Counters of each cell",
                sections=tuple(run_section(result, group.units) for result in group.cells),
                rank=APPENDIX,
            ),
        ),
        quiet=() if number else HOW,
    )


def _step(analysis: Analysis, group: Group, verdict: Verdict, step: int, prefix: str) -> Section:
    charts: tuple[Chart, ...] = ()
    if any(result.latencies.requests for result in group.at(step)):
        title = f"Share of the requests that were answered within a time, {group.axis.count(step)}"
        says = "Pooled over all timed trials; further left is faster."
        panel = Panel("", "", latency_spec(analysis, group, step))
        charts = (Chart(f"{prefix}latency-{step}", title, says, (panel,)),)
    why: tuple[Section, ...] = ()
    if group.anatomy is not None and step == group.steps[-1]:
        why = (anatomy_section(group.anatomy, why_lines(group), group.stacks, prefix),)
    if group.time_spent and step == group.steps[-1]:
        why += (requests_section(group.time_spent, prefix),)
    folded = [Section("Latency distribution", charts=charts, rank=FOLDED)] if charts else []
    return Section(
        group.axis.count(step),
        text=(verdict_sentence(group, verdict),),
        tables=(standings(group, verdict, step), *_step_tables(analysis, group, step)),
        sections=(*why, *folded),
    )


def metric_chart(
    analysis: Analysis, group: Group, metric: Metric, side: str, prefix: str
) -> Chart | None:
    """Over the axis; None if no contender has the metric."""
    if not metric_rows(group, metric, side):
        return None
    return Chart(
        f"{prefix}{side}-{metric.name}",
        f"{side.capitalize()}: {metric.label}",
        f"{metric.says.rstrip('.')}. {BARS}",
        (Panel("", metric.unit, metric_spec(analysis, group, metric, side)),),
        # One step is a point a design, which the table says.
        decides=(metric, side) == (PRIMARY, "server") and len(group.steps) > 1,
    )


def _all_metrics(analysis: Analysis, group: Group, prefix: str) -> Section:
    """The charts of each side."""
    known = {key for result in group.cells for key in result.estimates}
    charts: dict[str, list[Chart]] = {side: [] for side in SIDES}
    for whole, side in ((metric, side) for metric in CHARTED for side in metric.sides):
        tab = "answers" if whole.sides == ("client",) else side
        for metric in on_each_core(whole, {name for of, name in known if of == side}):
            chart = metric_chart(analysis, group, metric, side, prefix)
            if chart is not None and (metric, side) != (PRIMARY, "server"):
                charts[tab].append(chart)
    sections = tuple(
        Section(side.capitalize(), text=(f"{says}.",), charts=tuple(charts[side]))
        for side, says in SIDES.items()
    )
    return Section("All metrics", sections=sections, tabs=True, rank=APPENDIX)
