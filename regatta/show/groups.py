"""The sections of a group of cells: who won, by how much, at each step, and the charts."""

from collections.abc import Iterator
from dataclasses import replace

from regatta.judge.estimates import DRAWN
from regatta.judge.results import Analysis, Group
from regatta.judge.standings import Verdict
from regatta.record.metrics import CHARTED, ON_CORE, PRIMARY, Metric, metric_named
from regatta.show.charts import latency_spec, metric_spec
from regatta.show.group_tables import step_tables, worker_columns
from regatta.show.numbers import capitalized
from regatta.show.perf_run import run_section
from regatta.show.standings import READ, compares, overview, standings
from regatta.show.verdicts import FAMILIES, LEGEND, headline, verdict_sentence
from regatta.show.view import APPENDIX, DECIDES, FOLDED, OPEN, Chart, Panel, Section

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
