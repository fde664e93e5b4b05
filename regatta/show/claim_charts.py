"""A panel of a claim as Vega-Lite: a row a figure with its name above it, or a curve."""

import math

import altair as alt

from regatta.show.chart_parts import (
    LOG_FROM,
    Layers,
    data_of,
    drawn_digits,
    specification,
    unchecked,
)
from regatta.show.claim_figures import PUBLISHED, ClaimFigure, ClaimPanel
from regatta.show.palette import styles
from regatta.show.view import Spec

HEAD, ROW = 26, 40
"""Heights in pixels of a heading and of a row."""
CURVE = 190
BEYOND_LEAST = 4.0
"""A logarithmic axis begins at most this factor below the smallest value."""
THOUSANDS = 10_000
"""From here on axis labels use k and M."""
FAINT = 0.65
"""Opacity of headings and guide lines."""


@unchecked
def panel_spec(panel: ClaimPanel, contenders: list[str]) -> Spec:
    """As wide as its container; rows are never hidden."""
    return specification((_curve if panel.grows else _ranking)(panel, contenders))


def _ranking(panel: ClaimPanel, contenders: list[str]) -> Layers:
    rows, heads, height = _placed(panel, contenders)
    down = alt.Scale(domain=[height, 0], nice=False, zero=False)
    data = data_of(rows)
    x = alt.X("value:Q", scale=_scale(panel.rows), axis=_axis(panel.rows))
    y = alt.Y("dot:Q", scale=down, axis=None)
    above = alt.Y("text:Q", scale=down, axis=None)
    tip = [alt.Tooltip("label:N", title="design"), *_figure_tips(panel)]
    layers: list[alt.Chart] = [
        data.mark_rule().encode(x=alt.value(0), x2=alt.value("width"), y=y),
        data.mark_text(align="left", baseline="middle").encode(
            x=alt.value(0), y=above, text=alt.Text("label:N")
        ),
        data.mark_text(align="right", baseline="middle").encode(
            x=alt.value("width"), y=above, text=alt.Text("shown:N")
        ),
        _points(data).encode(x=x, y=y, tooltip=tip),
    ]
    if any("low" in row for row in rows):
        layers.insert(3, _bars(data).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y))
    if heads:
        layers.append(
            data_of(heads)
            .mark_text(align="left", baseline="middle", opacity=FAINT, fontWeight="bold")
            .encode(x=alt.value(0), y=above, text=alt.Text("label:N"))
        )
    return alt.layer(*layers).properties(height=height)


def _curve(panel: ClaimPanel, contenders: list[str]) -> Layers:
    """Values against connections, with the line of proportional growth."""
    data = data_of([_point(row, contenders, panel) for row in panel.rows])
    steps = sorted({row.connections for row in panel.rows})
    x = alt.X(
        "connections:Q",
        title="connections",
        scale=alt.Scale(domainMin=0, nice=False, padding=8),
        axis=alt.Axis(values=steps, labelOverlap=True),
    )
    y = alt.Y("value:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4))
    tip = [alt.Tooltip("connections:Q", format=","), *_figure_tips(panel)]
    line = data_of(_proportional(panel.rows))
    layers = [
        line.mark_line(strokeDash=[4, 4], opacity=FAINT, strokeWidth=1.25).encode(
            x=x, y=y, color=_own_colour()
        ),
        _points(data).encode(x=x, y=y, tooltip=tip),
    ]
    if any(row.low is not None for row in panel.rows):
        layers.insert(1, _bars(data).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")))
    return alt.layer(*layers).properties(height=CURVE)


def _figure_tips(panel: ClaimPanel) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("says:N", title=panel.unit or panel.title),
        alt.Tooltip("interval:N", title="95 % interval"),
    ]


def _points(data: alt.Chart) -> alt.Chart:
    known = data.transform_filter("isValid(datum.value)")
    drawn: alt.Chart = known.mark_point(size=75, opacity=1, strokeWidth=1.75).encode(
        stroke=alt.Stroke("colour:N", scale=None),
        fill=alt.Fill("fill:N", scale=None),
        shape=alt.Shape("shape:N", scale=None),
    )
    return drawn


def _bars(data: alt.Chart) -> alt.Chart:
    known = data.transform_filter("isValid(datum.low)")
    drawn: alt.Chart = known.mark_rule(strokeWidth=3, opacity=FAINT).encode(color=_own_colour())
    return drawn


def _proportional(rows: list[ClaimFigure]) -> list[Spec]:
    """From 0 through the geometric mean of the figures."""
    known = [(row.connections, row.value) for row in rows if row.value and row.connections]
    if not known:
        return []
    slope = math.exp(sum(math.log(value / count) for count, value in known) / len(known))
    most = max(count for count, _ in known)
    return [{"connections": at, "value": slope * at, "colour": "#808890"} for at in (0, most)]


def _placed(panel: ClaimPanel, contenders: list[str]) -> tuple[list[Spec], list[Spec], int]:
    """Rows and headings with their offset from the top, and the total height."""
    rows: list[Spec] = []
    heads: list[Spec] = []
    top, group = 0, ""
    for row in panel.rows:
        if row.group != group:
            top += 8 if rows else 0
            heads.append({"text": top + HEAD / 2 - 4, "label": row.group})
            top, group = top + HEAD, row.group
        rows.append({**_point(row, contenders, panel), "text": top + 11, "dot": top + 27})
        top += ROW
    return rows, heads, top


def _point(row: ClaimFigure, contenders: list[str], panel: ClaimPanel) -> Spec:
    floor = _log_ends(panel.rows)[0] if logarithmic(panel.rows) and not panel.grows else -math.inf
    known = styles(contenders if row.design in contenders else [row.design])[row.design]
    point: Spec = {
        "label": row.label,
        "connections": row.connections,
        "says": row.says,
        "shown": f"{row.says} ({row.interval})" if row.interval else row.says,
        "interval": row.interval or "none",
        "colour": known.colour,
        # Published figures are hollow: their uncertainty is unknown.
        "fill": "transparent" if panel.scope == PUBLISHED else known.colour,
        "shape": known.shape,
    }
    if row.value is not None:
        point["value"] = drawn_digits(row.value)
        if row.low is not None or row.high is not None:
            low = row.value if row.low is None else row.low
            point["low"] = drawn_digits(max(low, floor))
            point["high"] = drawn_digits(row.value if row.high is None else row.high)
    return point


def _own_colour() -> alt.Color:
    return alt.Color("colour:N", scale=None)


def logarithmic(rows: list[ClaimFigure]) -> bool:
    values = [row.value for row in rows if row.value is not None]
    return bool(values) and min(values) > 0 and max(values) > LOG_FROM * min(values)


def _scale(rows: list[ClaimFigure]) -> alt.Scale:
    if logarithmic(rows):
        low, high = _log_ends(rows)
        return alt.Scale(type="log", domain=[low, high], clamp=True, nice=False, padding=8)
    return alt.Scale(zero=True, nice=False, padding=8)


def _log_ends(rows: list[ClaimFigure]) -> tuple[float, float]:
    """Of a logarithmic axis, which has no 0: an interval from 0 runs off the edge."""
    values = [row.value for row in rows if row.value is not None]
    edge = min(values) / BEYOND_LEAST
    lows = [max(row.low, edge) for row in rows if row.low is not None]
    highs = [row.high for row in rows if row.high is not None]
    return drawn_digits(min([*values, *lows])), drawn_digits(max([*values, *highs]))


def _axis(rows: list[ClaimFigure]) -> alt.Axis:
    most = max((abs(row.value) for row in rows if row.value is not None), default=0.0)
    title = "logarithmic" if logarithmic(rows) else None
    in_thousands = "~s" if most >= THOUSANDS else alt.Undefined
    return alt.Axis(tickCount=4, format=in_thousands, labelOverlap=True, title=title)
