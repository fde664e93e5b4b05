"""Charts as Vega-Lite, built with altair and drawn by a browser or vl-convert, which know the size
and the colour scheme."""

import altair as alt

from regatta.analysis.estimates import DRAWN
from regatta.analysis.held_rates import HeldGroup
from regatta.analysis.results import Analysis, Group
from regatta.ledger.axes import AXES, Axis
from regatta.ledger.metrics import Metric, side_of
from regatta.show.chart_parts import (
    HEIGHT,
    SHOWN,
    Named,
    Rows,
    chart_row,
    colour_of,
    dash_of,
    data_of,
    drawn_digits,
    finished,
    is_logarithmic,
    layered,
    shape_of,
    step_scale,
    tooltips,
    unchecked,
    value_scale,
)
from regatta.show.numbers import short
from regatta.show.view import Spec

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
def metric_spec(analysis: Analysis, group: Group, metric: Metric, side: str) -> Spec:
    """Lines over the axis; with one step, a row a design. Outliers are rings."""
    rows, far = metric_rows(group, metric, side), outlier_rows(analysis, group, metric, side)
    one_step = len({row["step"] for row in rows}) == 1
    base = shown(rows)
    drawn = _dots if one_step else lines
    chart = drawn(analysis, group.axis, metric, base, rows)
    if far:
        chart = layered(
            _rings(analysis, metric, rows, far, one_step), chart, height=chart["height"]
        )
    return finished(chart, analysis)


@unchecked
def knee_spec(analysis: Analysis, group: HeldGroup, metric: Metric, name: str) -> Spec:
    """A latency of each contender over the rates up to the one that it holds; each has its own."""
    rows = knee_rows(group, name, metric)
    return finished(lines(analysis, AXES["rate"], metric, shown(rows), rows), analysis)


def _rings(analysis: Analysis, metric: Metric, rows: Rows, far: Rows, one_step: bool) -> alt.Chart:
    # Includes the estimates, invisibly: if the designs of all outliers are filtered out, an empty
    # layer would have no scale.
    values = [*rows, *({**row, "far": True} for row in far)]
    data = shown(values)
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
def latency_spec(analysis: Analysis, group: Group, step: int) -> Spec:
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
    base = shown(rows)
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
def warm_up_spec(analysis: Analysis) -> Spec:
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
    base = shown(rows)
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


MOST_BARS = 60
"""More bars would be too thin to tell apart."""
FAINT = 0.45
"""Opacity of a bar, so that the interval and the point on it are visible."""


@unchecked
def lines_beside(analysis: Analysis, axis: Axis, named: Named, rows: Rows, theirs: Rows) -> Spec:
    """Lines over the axis; bars if there is only one step."""
    if len({row["step"] for row in rows}) == 1:
        return bars_beside(analysis, axis, named, rows, theirs)
    ours = lines(analysis, axis, named, shown(rows), [*rows, *theirs])
    if not theirs:
        return finished(ours, analysis)
    x = alt.X("step:Q", title=axis.many)
    y = alt.Y("value:Q", title=named.unit or None)
    hollow = _hollow(analysis, axis, named, theirs, {"x": x, "y": y})
    return finished(layered(ours, hollow, height=HEIGHT), analysis)


@unchecked
def bars_beside(analysis: Analysis, axis: Axis, named: Named, rows: Rows, theirs: Rows) -> Spec:
    """A bar a design and step; only points where bars make no sense."""
    logarithmic = is_logarithmic([*rows, *theirs])
    scale = value_scale([*rows, *theirs]) if logarithmic else alt.Scale(zero=True, nice=True)
    title = named.unit or None
    at = {
        "x": alt.X("step:O", title=axis.many, axis=alt.Axis(labelAngle=0)),
        "xOffset": alt.XOffset("design:N", scale=alt.Scale(domain=analysis.contenders)),
    }
    y = alt.Y("value:Q", title=title, scale=scale)
    colour = colour_of(analysis)
    data = shown(rows)
    known = data.transform_filter("isValid(datum.low)")
    low = alt.Y("low:Q", title=title, scale=scale)
    layers: list[alt.Chart] = [
        known.mark_rule(strokeWidth=1.5).encode(**at, y=low, y2=alt.Y2("high:Q"), color=colour),
        data.mark_point(filled=True, size=45, opacity=1).encode(
            **at, y=y, color=colour, shape=shape_of(analysis), tooltip=tooltips(axis, named)
        ),
    ]
    # Bars start at 0, which a logarithmic axis does not have.
    if not logarithmic and len(rows) <= MOST_BARS:
        layers.insert(0, data.mark_bar(opacity=FAINT).encode(**at, y=y, color=colour))
    if theirs:
        layers.append(_hollow(analysis, axis, named, theirs, {**at, "y": y}))
    return finished(layered(*layers, height=HEIGHT), analysis)


def _hollow(analysis: Analysis, axis: Axis, named: Named, theirs: Rows, at: Spec) -> alt.Chart:
    """Hollow, because the uncertainty of a published figure is unknown."""
    points = shown(theirs).mark_point(filled=False, size=60, opacity=1, strokeWidth=1.5)
    drawn: alt.Chart = points.encode(
        **at,
        color=colour_of(analysis),
        shape=shape_of(analysis),
        tooltip=[alt.Tooltip("source:N", title="published"), *tooltips(axis, named)[:3]],
    )
    return drawn


def knee_rows(group: HeldGroup, name: str, metric: Metric) -> Rows:
    return [
        chart_row(one.cell.contender, point.rate, getattr(point, name), metric)
        for one in group.kneed
        for point in one.knee
        if getattr(point, name).state in DRAWN
    ]


def shown(rows: Rows) -> alt.Chart:
    """Of the designs that the reader has left checked."""
    return data_of(rows).transform_filter(SHOWN)
