"""Charts of the knee: p50 and p99 against the offered rate, up to each held rate."""

from collections.abc import Iterator
from typing import Any

from regatta.analysis.held_rates import HeldGroup
from regatta.analysis.results import Analysis
from regatta.ledger.axes import AXES
from regatta.ledger.metrics import BY_NAME, Metric
from regatta.report.charts.charts import line_chart
from regatta.report.charts.parts import DRAWN, Rows, chart_row
from regatta.report.tables.held_rates import held_table, knee_tables

KNEES = {"p50": BY_NAME["latency_p50_ms"], "p99": BY_NAME["latency_p99_ms"]}


def knee_charts(analysis: Analysis) -> Iterator[tuple[str, HeldGroup, Metric, dict[str, Any]]]:
    """File name, group, metric and specification of each chart."""
    for number, group in enumerate(analysis.held, start=1):
        prefix = f"{number}-" if len(analysis.held) > 1 else ""
        for name, metric in KNEES.items():
            rows = knee_rows(group, name, metric)
            if rows:
                spec = line_chart(analysis, AXES["rate"], metric, rows)
                yield f"{prefix}knee-{name}", group, metric, spec


def knee_rows(group: HeldGroup, name: str, metric: Metric) -> Rows:
    return [
        chart_row(one.cell.contender, point.rate, getattr(point, name), metric)
        for one in group.kneed
        for point in one.knee
        if getattr(point, name).state in DRAWN
    ]


def held_section(analysis: Analysis, charts: dict[str, Any]) -> list[dict[str, Any]]:
    """For the page: the tables of each group and the ids of its charts."""
    drawn = list(knee_charts(analysis))
    charts.update({name: spec for name, _, _, spec in drawn})
    return [
        {
            "table": held_table(group),
            "charts": [
                {"id": name, "metric": metric} for name, of, metric, _ in drawn if of is group
            ],
            "knees": knee_tables(group),
        }
        for group in analysis.held
    ]
