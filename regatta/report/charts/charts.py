"""Charts as Vega-Lite: each metric against the quantity that the study varies.

Made by altair, which checks them; drawn by the reader's browser, which knows its size and scheme.
"""

from collections.abc import Callable, Iterator
from typing import Any

import altair as alt

from regatta.analysis.estimates import MEASURED, OVER, Estimate
from regatta.analysis.results import Analysis, Group
from regatta.ledger.axes import Axis
from regatta.ledger.metrics import CHARTED, ON_CORE, Metric, metric_named, side_of
from regatta.report.charts.palette import Style, styles
from regatta.report.text.numbers import interval_of, short, value_of

HEIGHT = 200
MOST_BANDS = 5
"""With more designs the bands would hide one another; the bars remain."""
MOST_TICKS = 12
"""With more steps than these the axis has ticks of its own."""
LOG_FROM = 20
"""Values that span more than this factor need a logarithmic axis to be seen."""
TOO_FEW = "none: too few trials"
DRAWN = (MEASURED, OVER)
"""States of what is drawn: a client-bound figure says nothing of its server."""
Rows = list[dict[str, Any]]
Layers = alt.LayerChart | alt.FacetChart
"""What altair says that layers make."""


def metric_rows(group: Group, metric: Metric, side: str) -> Rows:
    """What a chart shows; empty if nobody could measure it."""
    return [
        chart_row(result.cell.contender, step, estimate, metric)
        for step, result in group.step_cells()
        if (estimate := result.estimates.get((side, metric.name))) and estimate.state in DRAWN
    ]


def chart_row(design: str, step: int, estimate: Estimate, metric: Metric) -> dict[str, Any]:
    """One point of a chart, with its interval.

    What is only known to be longer stands where it is at least: without it a chart would show the
    quick designs alone.
    """
    is_over = estimate.state == OVER
    value = estimate.low if is_over else estimate.value
    assert value is not None, "what is drawn was measured"
    row = {
        "design": design,
        "step": step,
        "value": drawn_digits(value),
        "says": f"{value_of(estimate)} {metric.unit}".strip(),
        "interval": interval_of(estimate) or ("not known" if is_over else TOO_FEW),
        "trials": estimate.trials,
    }
    if estimate.low is not None and not is_over:
        row["low"] = drawn_digits(estimate.low)
        row["high"] = drawn_digits(value if estimate.high is None else estimate.high)
    return row


def far_rows(analysis: Analysis, group: Group, metric: Metric, side: str) -> Rows:
    """The trials of this chart that are far from the others of their cell."""
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
            "trial": f"of block {one.block}, far from the others",
        }
        for one in analysis.outliers
        if one.metric == metric.name
        for step in steps.get(one.cell.id, [])
    ]


def metric_chart(
    analysis: Analysis, group: Group, metric: Metric, rows: Rows, far: Rows
) -> dict[str, Any]:
    """Lines over the steps of the axis; with one step a row a design. Far trials are rings."""
    one_step = len({row["step"] for row in rows}) == 1
    base = alt.Chart(alt.InlineData(values=rows)).transform_filter(SHOWN)
    drawn = _dots if one_step else _lines
    chart = drawn(analysis, group.axis, metric, base, rows)
    if far:
        chart = _rings(analysis, metric, rows, far, one_step) + chart
    return _finished(chart, analysis)


def line_chart(analysis: Analysis, axis: Axis, metric: Metric, rows: Rows) -> dict[str, Any]:
    """Lines over an axis on which each design has steps of its own."""
    base = alt.Chart(alt.InlineData(values=rows)).transform_filter(SHOWN)
    return _finished(_lines(analysis, axis, metric, base, rows), analysis)


def _rings(analysis: Analysis, metric: Metric, rows: Rows, far: Rows, one_step: bool) -> alt.Chart:
    # The estimates are among them unseen: where the designs of all far trials are taken out of a
    # chart, a layer of nothing would have no scale.
    values = [*rows, *({**row, "far": True} for row in far)]
    data = alt.Chart(alt.InlineData(values=values)).transform_filter(SHOWN)
    rings = data.mark_point(shape="circle", filled=False, size=60, strokeWidth=1.25)
    seen = alt.condition("datum.far", alt.value(0.9), alt.value(0))
    value = "value:Q"
    axes = {"x": value, "y": "design:N"} if one_step else {"x": "step:Q", "y": value}
    tooltip = [
        alt.Tooltip("design:N"),
        alt.Tooltip("trial:N", title="a trial"),
        alt.Tooltip("says:N", title=metric.label),
    ]
    drawn: alt.Chart = rings.encode(**axes, color=_colour(analysis), opacity=seen, tooltip=tooltip)
    return drawn


SHOWN = "indexof(shown, datum.design) >= 0"


def _lines(analysis: Analysis, axis: Axis, metric: Metric, base: alt.Chart, rows: Rows) -> Layers:
    steps = sorted({row["step"] for row in rows})
    values = steps if len(steps) <= MOST_TICKS else alt.Undefined
    ticks = alt.Axis(values=values, labelOverlap=True)
    x = alt.X("step:Q", title=axis.many, scale=_step_scale(rows), axis=ticks)
    y_title = metric.unit or None
    y = alt.Y("value:Q", title=y_title, scale=_value_scale(rows))
    colour = _colour(analysis)
    layers = []
    if len(analysis.contenders) <= MOST_BANDS:
        band = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.13, tooltip=None)
        layers.append(band.encode(x=x, y=alt.Y("low:Q", title=y_title), y2="high:Q", color=colour))
    layers.append(
        base.mark_line(strokeWidth=1.75).encode(x=x, y=y, color=colour, strokeDash=_dash(analysis))
    )
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
    layers.append(bars.encode(x=x, y=alt.Y("low:Q", title=y_title), y2="high:Q", color=colour))
    points = base.mark_point(filled=True, size=55, opacity=1)
    layers.append(
        points.encode(
            x=x, y=y, color=colour, shape=_shape(analysis), tooltip=_tooltip(axis, metric)
        )
    )
    return alt.layer(*layers).properties(height=HEIGHT)


def _dots(analysis: Analysis, axis: Axis, metric: Metric, base: alt.Chart, rows: Rows) -> Layers:
    y = alt.Y("design:N", title=None, sort=analysis.contenders, axis=alt.Axis(labelLimit=140))
    scale = _value_scale(rows)
    x = alt.X("value:Q", title=metric.unit or None, scale=scale)
    colour = _colour(analysis)
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2)
    low = alt.X("low:Q", title=metric.unit or None, scale=scale)
    points = base.mark_point(filled=True, size=70, opacity=1)
    return alt.layer(
        bars.encode(x=low, x2="high:Q", y=y, color=colour),
        points.encode(
            x=x, y=y, color=colour, shape=_shape(analysis), tooltip=_tooltip(axis, metric)
        ),
    ).properties(height=alt.Step(26))


def latency_chart(analysis: Analysis, group: Group, step: int) -> dict[str, Any]:
    """The share of requests that were answered within a time, for each design.

    A line ends below 100 % where an open load did not come to the rest.
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
    base = alt.Chart(alt.InlineData(values=rows)).transform_filter(SHOWN)
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
    colour = _colour(analysis)
    line = base.mark_line(interpolate="step-after", strokeWidth=2, tooltip=None)
    spots = base.mark_point(filled=True, size=90, opacity=0)
    tooltip = [alt.Tooltip("design:N"), alt.Tooltip("says:N", title="answered")]
    chart = alt.layer(
        line.encode(x=x, y=y, color=colour, strokeDash=_dash(analysis), order=alt.Order("share:Q")),
        spots.encode(x=x, y=y, color=colour, tooltip=tooltip),
    ).properties(height=320)
    return _finished(chart, analysis)


def measured_sides(metric: Metric) -> list[tuple[str, str]]:
    """On which tabs of the page a metric's chart stands: the tab and the side it shows."""
    if metric.sides == ("client",):
        return [("answers", "client")]
    return [(side, side) for side in metric.sides]


def charted(group: Group) -> Iterator[tuple[str, str, Metric]]:
    """Tab, side and metric of each chart; where sides ran on kinds of core, of each kind too."""
    known = sorted({key for result in group.cells for key in result.estimates})
    for metric in CHARTED:
        on_a_core = f"{metric.name}{ON_CORE}"
        for tab, side in measured_sides(metric):
            yield tab, side, metric
            for of_side, name in known:
                if of_side == side and name.startswith(on_a_core):
                    yield tab, side, metric_named(name)


def _finished(chart: Layers, analysis: Analysis) -> dict[str, Any]:
    return specification(chart.add_params(alt.param(name="shown", value=analysis.contenders)))


def specification(chart: Layers) -> dict[str, Any]:
    """As wide as what it stands in."""
    # Validating would take most of the report's time; the tests do.
    spec: dict[str, Any] = chart.properties(width="container").to_dict(validate=False)
    spec.pop("config", None)  # the page has its own, for its light and dark scheme
    return spec


def _colour(analysis: Analysis) -> alt.Color:
    scale = _scale_of(analysis, lambda style: style.colour)
    return alt.Color("design:N", scale=scale, legend=None)


def _shape(analysis: Analysis) -> alt.Shape:
    scale = _scale_of(analysis, lambda style: style.shape)
    return alt.Shape("design:N", scale=scale, legend=None)


def _dash(analysis: Analysis) -> alt.StrokeDash:
    scale = _scale_of(analysis, lambda style: style.dash or [1, 0])
    return alt.StrokeDash("design:N", scale=scale, legend=None)


def _scale_of(analysis: Analysis, part: Callable[[Style], Any]) -> alt.Scale:
    known = styles(analysis.contenders)
    looks = [part(known[name]) for name in analysis.contenders]
    return alt.Scale(domain=analysis.contenders, range=looks)


def _tooltip(axis: Axis, metric: Metric) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("design:N"),
        alt.Tooltip("step:Q", title=axis.many, format=","),
        alt.Tooltip("says:N", title=metric.label),
        alt.Tooltip("interval:N", title="95 % interval"),
        alt.Tooltip("trials:Q"),
    ]


def _step_scale(rows: Rows) -> alt.Scale:
    numbers = [row["step"] for row in rows]
    if max(numbers) >= 8 * min(numbers):
        # A logarithm has no 0; this scale has, and is logarithmic from 1 on.
        kind = "symlog" if min(numbers) == 0 else "log"
        return alt.Scale(type=kind, nice=False, padding=14)  # type: ignore[arg-type]
    return alt.Scale(nice=False, zero=False, padding=14)


def _value_scale(rows: Rows) -> alt.Scale:
    values: list[float] = [row["value"] for row in rows]
    ends = [*values, *(row[end] for row in rows for end in ("low", "high") if end in row)]
    if min(ends) > 0 and max(values) > LOG_FROM * min(values):
        return alt.Scale(type="log", nice=True)
    # From 0 unless that would flatten everything against the upper edge.
    return alt.Scale(zero=min(ends) < 0.6 * max(ends), nice=True)


def drawn_digits(value: float) -> float:
    """Six digits are more than a picture can show."""
    return float(f"{value:.6g}")
