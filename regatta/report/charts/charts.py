"""Charts as Vega-Lite: each metric against the quantity that the study varies.

Built with altair; drawn by the reader's browser, which knows its size and colour scheme.
"""

from collections.abc import Iterator
from typing import Any

import altair as alt

from regatta.analysis.results import Analysis, Group
from regatta.ledger.axes import Axis
from regatta.ledger.metrics import CHARTED, ON_CORE, Metric, metric_named, side_of
from regatta.report.charts.parts import (
    DRAWN,
    HEIGHT,
    SHOWN,
    Named,
    Rows,
    Spec,
    chart_row,
    colour_of,
    dash_of,
    data_of,
    drawn_digits,
    finished,
    layered,
    shape_of,
    step_scale,
    tooltips,
    unchecked,
    value_scale,
)
from regatta.report.text.numbers import short

MOST_BANDS = 5
"""With more designs, bands would hide one another; the bars remain."""
MOST_TICKS = 12
"""With more steps, the axis chooses its own ticks."""


def metric_rows(group: Group, metric: Metric, side: str) -> Rows:
    """The points of a chart; empty if no contender has the metric."""
    return [
        chart_row(result.cell.contender, step, estimate, metric)
        for step, result in group.step_cells()
        if (estimate := result.estimates.get((side, metric.name))) and estimate.state in DRAWN
    ]


def outlier_rows(analysis: Analysis, group: Group, metric: Metric, side: str) -> Rows:
    """The outliers among the trials of a chart."""
    if side != side_of(metric):
        return []
    steps: dict[int, list[int]] = {}
    for step, result in group.step_cells():
        steps.setdefault(result.cell.id, []).append(step)
    return [
        {
            "design": one.cell.contender,
            "step": step,
            "value": drawn_digits(one.value),
            "says": f"{short(one.value)} {metric.unit}".strip(),
            "trial": f"block {one.block}, an outlier",
        }
        for one in analysis.outliers
        if one.metric == metric.name
        for step in steps.get(one.cell.id, [])
    ]


@unchecked
def metric_chart(
    analysis: Analysis, group: Group, metric: Metric, rows: Rows, far: Rows
) -> dict[str, Any]:
    """Lines over the axis; with one step, a row a design. Outliers are rings."""
    one_step = len({row["step"] for row in rows}) == 1
    base = data_of(rows).transform_filter(SHOWN)
    drawn = _dots if one_step else lines
    chart = drawn(analysis, group.axis, metric, base, rows)
    if far:
        chart = layered(
            _rings(analysis, metric, rows, far, one_step), chart, height=chart["height"]
        )
    return finished(chart, analysis)


@unchecked
def line_chart(analysis: Analysis, axis: Axis, metric: Metric, rows: Rows) -> dict[str, Any]:
    """Lines over an axis on which each design has its own steps."""
    base = data_of(rows).transform_filter(SHOWN)
    return finished(lines(analysis, axis, metric, base, rows), analysis)


def _rings(analysis: Analysis, metric: Metric, rows: Rows, far: Rows, one_step: bool) -> alt.Chart:
    # Includes the estimates, invisibly: if the designs of all outliers are filtered out, an empty
    # layer would have no scale.
    values = [*rows, *({**row, "far": True} for row in far)]
    data = data_of(values).transform_filter(SHOWN)
    rings = data.mark_point(shape="circle", filled=False, size=60, strokeWidth=1.25)
    seen = alt.condition("datum.far", alt.value(0.9), alt.value(0))
    x, y = ("value:Q", "design:N") if one_step else ("step:Q", "value:Q")
    tooltip = [
        alt.Tooltip("design:N"),
        alt.Tooltip("trial:N", title="trial"),
        alt.Tooltip("says:N", title=metric.label),
    ]
    drawn: alt.Chart = rings.encode(
        x=alt.X(x), y=alt.Y(y), color=colour_of(analysis), opacity=seen, tooltip=tooltip
    )
    return drawn


def lines(analysis: Analysis, axis: Axis, named: Named, base: alt.Chart, rows: Rows) -> Spec:
    """`rows`: what the scales must cover."""
    steps = sorted({row["step"] for row in rows})
    values = steps if len(steps) <= MOST_TICKS else alt.Undefined
    ticks = alt.Axis(values=values, labelOverlap=True)
    x = alt.X("step:Q", title=axis.many, scale=step_scale(rows), axis=ticks)
    y_title = named.unit or None
    y = alt.Y("value:Q", title=y_title, scale=value_scale(rows))
    colour = colour_of(analysis)
    layers = []
    if len(analysis.contenders) <= MOST_BANDS:
        band = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.13, tooltip=None)
        layers.append(
            band.encode(x=x, y=alt.Y("low:Q", title=y_title), y2=alt.Y2("high:Q"), color=colour)
        )
    layers.append(
        base.mark_line(strokeWidth=1.75).encode(
            x=x, y=y, color=colour, strokeDash=dash_of(analysis)
        )
    )
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
    layers.append(
        bars.encode(x=x, y=alt.Y("low:Q", title=y_title), y2=alt.Y2("high:Q"), color=colour)
    )
    points = base.mark_point(filled=True, size=55, opacity=1)
    layers.append(
        points.encode(
            x=x, y=y, color=colour, shape=shape_of(analysis), tooltip=tooltips(axis, named)
        )
    )
    return layered(*layers, height=HEIGHT)


def _dots(analysis: Analysis, axis: Axis, named: Named, base: alt.Chart, rows: Rows) -> Spec:
    y = alt.Y("design:N", title=None, sort=analysis.contenders, axis=alt.Axis(labelLimit=140))
    scale = value_scale(rows)
    x = alt.X("value:Q", title=named.unit or None, scale=scale)
    colour = colour_of(analysis)
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2)
    low = alt.X("low:Q", title=named.unit or None, scale=scale)
    points = base.mark_point(filled=True, size=70, opacity=1)
    return layered(
        bars.encode(x=low, x2=alt.X2("high:Q"), y=y, color=colour),
        points.encode(
            x=x, y=y, color=colour, shape=shape_of(analysis), tooltip=tooltips(axis, named)
        ),
        height={"step": 26},
    )


@unchecked
def latency_chart(analysis: Analysis, group: Group, step: int) -> dict[str, Any]:
    """The share of requests answered within a time, for each design.

    A line ends below 100 % if an open load did not start the rest.
    """
    rows: Rows = [
        {
            "design": result.cell.contender,
            "share": drawn_digits(share),
            "ms": drawn_digits(milliseconds),
            "says": f"{share * 100:.4g} % within {milliseconds:.4g} ms",
        }
        for result in group.at(step)
        for share, milliseconds in result.latencies.quantiles_ms
    ]
    base = data_of(rows).transform_filter(SHOWN)
    x = alt.X(
        "ms:Q",
        title="latency, ms (logarithmic)",
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(labelOverlap=True, tickCount=8, format="~g"),
    )
    y = alt.Y(
        "share:Q",
        title="requests answered",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", tickCount=5),
    )
    colour = colour_of(analysis)
    line = base.mark_line(interpolate="step-after", strokeWidth=2, tooltip=None)
    spots = base.mark_point(filled=True, size=90, opacity=0)
    tooltip = [alt.Tooltip("design:N"), alt.Tooltip("says:N", title="answered")]
    chart = layered(
        line.encode(
            x=x, y=y, color=colour, strokeDash=dash_of(analysis), order=alt.Order("share:Q")
        ),
        spots.encode(x=x, y=y, color=colour, tooltip=tooltip),
        height=320,
    )
    return finished(chart, analysis)


@unchecked
def warm_up_chart(analysis: Analysis) -> dict[str, Any]:
    """CPU per request of each server's first process against its requests so far."""
    rows: Rows = []
    for one in analysis.warm_ups:
        so_far = 0
        for part in one.curve:
            so_far += part.requests
            rows.append(
                {
                    "design": one.contender,
                    "line": f"{one.contender} {one.work}",
                    "step": so_far,
                    "value": drawn_digits(part.cpu_us),
                    "says": f"{short(part.cpu_us)} µs, p50 {short(part.p50_us)} µs",
                }
            )
    base = data_of(rows).transform_filter(SHOWN)
    tooltip = [
        alt.Tooltip("design:N"),
        alt.Tooltip("step:Q", title="requests so far", format=","),
        alt.Tooltip("says:N", title="server CPU"),
    ]
    encoded = {
        "x": alt.X("step:Q", title="requests so far"),
        "y": alt.Y("value:Q", title="µs", scale=value_scale(rows)),
        "color": colour_of(analysis),
        "detail": alt.Detail("line:N"),
    }
    line = base.mark_line(strokeWidth=1.75, tooltip=None).encode(**encoded)
    spots = base.mark_point(filled=True, size=25, opacity=1).encode(**encoded, tooltip=tooltip)
    return finished(layered(line, spots, height=HEIGHT), analysis)


def measured_sides(metric: Metric) -> list[tuple[str, str]]:
    """The tabs of the page that have a chart of the metric, each with the side it shows."""
    if metric.sides == ("client",):
        return [("answers", "client")]
    return [(side, side) for side in metric.sides]


def charted(group: Group) -> Iterator[tuple[str, str, Metric]]:
    """Tab, side and metric of each chart, also for each kind of core."""
    known = sorted({key for result in group.cells for key in result.estimates})
    for metric in CHARTED:
        on_a_core = f"{metric.name}{ON_CORE}"
        for tab, side in measured_sides(metric):
            yield tab, side, metric
            for of_side, name in known:
                if of_side == side and name.startswith(on_a_core):
                    yield tab, side, metric_named(name)
