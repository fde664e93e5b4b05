"""The section of one table: its standings, charts and further tables."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from regatta.judge.estimates import DRAWN, Estimate
from regatta.judge.overheads import WEIGHED, Difference
from regatta.judge.results import Analysis, CellResult, Group
from regatta.judge.standings import Verdict
from regatta.judge.twins import TwinShare, twin_shares
from regatta.record.metrics import CHARTED, ON_CORE, PRIMARY, Metric, metric_named
from regatta.show.charts import latency_spec, metric_spec
from regatta.show.numbers import (
    DASH,
    capitalized,
    cell_of,
    interval_of,
    percent,
    plural,
    ratio_cell,
    short,
    value_of,
)
from regatta.show.standings import READ, compares, overview, standings
from regatta.show.trials import run_section
from regatta.show.verdicts import FAMILIES, LEGEND, headline, verdict_sentence
from regatta.show.view import (
    APPENDIX,
    DECIDES,
    FOLDED,
    OPEN,
    Chart,
    Panel,
    Section,
    Table,
    plain_table,
    table_of,
)

KERNEL = WEIGHED[1].name


def step_tables(analysis: Analysis, group: Group, step: int) -> list[Table]:
    """The tables that apply at this step of the axis."""
    return [
        *_beyond_baseline(analysis, group, step),
        *_twin_table(analysis, group, step),
        *_memory_table(analysis, group, step),
        *_workers_table(group, step),
    ]


def _beyond_baseline(analysis: Analysis, group: Group, step: int) -> list[Table]:
    baseline = analysis.baseline
    known = {one.contender: one for one in group.differences if one.at == step}
    if baseline is None or not known:
        return []
    published = baseline.published
    if published is not None and published.at not in (step, None):
        published = None
    # Requests a trial, if that is the same for all cells of the step.
    cells = [result.cell for result in group.at(step)]
    counts = {cell.rounds * cell.connections if cell.rounds else None for cell in cells}
    requests = counts.pop() if len(counts) == 1 else None
    header = ["design", "µs per request", *([f"s for {requests:,}"] if requests else [])]
    header += [_words(name) for name in published.columns] if published else []
    rows = [[baseline.contender, *["0"] * (len(header) - 1)]]
    for name in (cell.contender for cell in cells):
        if name in known:
            row = [name, _difference(known[name], 1.0)]
            row += [_difference(known[name], requests / 1e6)] if requests else []
            theirs = published.rows.get(name, []) if published else []
            row += [DASH if value is None else f"{value:g}" for value in theirs]
            rows.append([*row, *[""] * (len(header) - len(row))])
    says = (
        f"Server CPU time minus that of {baseline.contender}, paired within blocks. In brackets: "
        "not distinguishable from 0. All intervals hold simultaneously at 95 %."
    )
    if published:
        first = _words(published.columns[0])
        says += f" Published, from the column “{first}” on: {published.source}"
    return [plain_table(f"CPU time beyond {baseline.contender}", says, header, rows)]


def _difference(one: Difference, factor: float) -> str:
    size = Estimate(**vars(one.through(lambda us: us * factor)))
    text = value_of(size) if one.larger else f"({value_of(size)})"
    return f"{text}\n{interval_of(size)}".strip()


def _words(column: str) -> str:
    """`digital_unix_s` as a title: `digital unix, s`."""
    name, _, unit = column.rpartition("_")
    return f"{name.replace('_', ' ')}, {unit}" if name else column


def twin_sentence(share: TwinShare) -> str:
    """If the twin costs as much as the design, only an upper bound of the rest is known."""
    if share.twin_us > share.us:
        most = f", at most {percent(share.ratio.high - 1)}" if share.ratio.high > 1 else ""
        return (
            f"{share.design}: {short(share.us)} µs, its bare twin {short(share.twin_us)}: the "
            f"difference is too small to measure{most}"
        )
    return (
        f"{share.design}: of {short(share.us)} µs, {short(share.twin_us)} are due to the "
        "strategy (its bare twin)"
    )


def _twin_table(analysis: Analysis, group: Group, step: int) -> tuple[Table, ...]:
    """Empty where no twin was measured with its design."""
    found = [one for one in twin_shares(group, analysis.names.twins) if one.at == step]
    return table_of(
        "Cost of the strategy",
        f"{'; '.join(map(twin_sentence, found))}. Server CPU per request; the ratio is paired "
        "within blocks, with its 95 % interval, which covers this sitting.",
        found,
        {
            "design": lambda one: one.design,
            "ratio": lambda one: ratio_cell(one.ratio),
            "µs per request": lambda one: short(one.us),
            "its bare twin": lambda one: short(one.twin_us),
        },
    )


def _memory_table(analysis: Analysis, group: Group, step: int) -> tuple[Table, ...]:
    """With the cells that have the most idle connections; empty where memory was not measured."""
    here = [result.cell for result in group.at(step)]
    kib: dict[str, dict[str, str]] = {}
    for one in analysis.memory_per_connection:
        if one.cell in here:
            kib.setdefault(one.cell.contender, {}).setdefault(one.metric, cell_of(one.kib))
    says = (
        "KiB per idle connection: the slope of memory over their number, with its 95 % interval. "
        "The first column is what the server's processes hold, the second what the kernel holds "
        "for them."
    )
    if not any(KERNEL in of for of in kib.values()):
        says += " The kernel's part is not supported here: it needs root and the memory controller."
    return table_of(
        "Memory per idle connection",
        says,
        list(kib),
        {
            "contender": str,
            "processes": lambda name: kib[name].get(WEIGHED[0].name, DASH),
            "kernel": lambda name: kib[name].get(KERNEL, DASH),
        },
    )


def _workers_table(group: Group, step: int) -> tuple[Table, ...]:
    return table_of(
        "Connections per worker",
        "Means over timed trials, including the warm-up; workers are ranked within each trial.",
        [result for result in group.at(step) if result.workers],
        {
            "design": lambda one: one.cell.contender,
            "workers": lambda one: f"{len(one.workers)}",
            "busiest": lambda one: short(one.workers[0]),
            "median": lambda one: short(one.workers[len(one.workers) // 2]),
            "least busy": lambda one: short(one.workers[-1]),
            "share of the busiest": _share_of_the_busiest,
        },
    )


def _share_of_the_busiest(result: CellResult) -> str:
    total = sum(result.workers)
    return f"{result.workers[0] / total * 100:.0f} %" if total else DASH


def worker_columns(group: Group, step: int) -> Table | None:
    """All workers of all pools, the busiest first: a column a design, as in the book."""
    pools = [result for result in group.at(step) if result.workers]
    if not pools:
        return None
    columns = [[short(worker) for worker in result.workers] for result in pools]
    ranks = enumerate(zip_longest(*columns, fillvalue=""), start=1)
    rows = [[f"{rank}", *row] for rank, row in ranks]
    title = f"Each of {plural(len(rows), 'worker')}, the busiest first"
    return plain_table(title, "", ["worker", *(one.cell.contender for one in pools)], rows)


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
    several = len(group.steps) > 1
    key = metric_chart(analysis, group, PRIMARY, "server", prefix)
    steps = tuple(
        _step(analysis, group, verdict, step, prefix)
        for verdict, step in zip(group.by_step, group.steps, strict=True)
    )
    return Section(
        capitalized(group.title) or "Standings",
        says=f"{headline(group)}.",
        text=(verdict_sentence(group, group.overall),) if several else (),
        tables=(replace(overview(group, compares(analysis)), title=""),) if several else (),
        charts=(key,) if key else (),
        sections=(
            Section(
                f"At each {group.axis.quantity}",
                sections=steps,
                tabs=True,
                rank=OPEN if several else DECIDES,
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
    more = []
    if any(result.latencies.requests for result in group.at(step)):
        chart = Chart(
            f"{prefix}latency-{step}",
            f"Share of the requests that were answered within a time, {group.axis.count(step)}",
            "Pooled over all timed trials; further left is faster.",
            (Panel("", "", latency_spec(analysis, group, step)),),
        )
        more.append(Section("Latency distribution", charts=(chart,), rank=FOLDED))
    if workers := worker_columns(group, step):
        more.append(Section(workers.title, tables=(workers,), rank=APPENDIX))
    return Section(
        group.axis.count(step),
        text=(verdict_sentence(group, verdict),),
        tables=(standings(group, verdict, step), *step_tables(analysis, group, step)),
        sections=tuple(more),
    )


def metric_chart(
    analysis: Analysis, group: Group, metric: Metric, side: str, prefix: str
) -> Chart | None:
    """Over the axis; None if no contender has the metric."""
    if not set(_states(group, metric, side)) & set(DRAWN):
        return None
    return Chart(
        f"{prefix}{side}-{metric.name}",
        f"{side.capitalize()}: {metric.label}",
        f"{metric.says.rstrip('.')}. {BARS}",
        (Panel("", metric.unit, metric_spec(analysis, group, metric, side)),),
        decides=metric is PRIMARY and side == "server",
    )


def _states(group: Group, metric: Metric, side: str) -> list[str]:
    known = (result.estimates.get((side, metric.name)) for result in group.cells)
    return sorted({estimate.state for estimate in known if estimate is not None})


def _all_metrics(analysis: Analysis, group: Group, prefix: str) -> Section:
    """The charts of each side, and what has no figure."""
    charts: dict[str, list[Chart]] = {side: [] for side in SIDES}
    missing: dict[str, list[str]] = {side: [] for side in SIDES}
    for tab, side, metric in _charted(group):
        chart = metric_chart(analysis, group, metric, side, prefix)
        if chart is None:
            states = ", ".join(_states(group, metric, side))
            missing[tab].append(f"{metric.label} ({states})")
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


def _charted(group: Group) -> Iterator[tuple[str, str, Metric]]:
    """Tab, side and metric of each chart, also for each kind of core."""
    known = sorted({key for result in group.cells for key in result.estimates})
    for metric in CHARTED:
        for side in metric.sides:
            tab = "answers" if metric.sides == ("client",) else side
            yield tab, side, metric
            for of_side, name in known:
                if of_side == side and name.startswith(f"{metric.name}{ON_CORE}"):
                    yield tab, side, metric_named(name)
