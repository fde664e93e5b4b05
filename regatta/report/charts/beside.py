"""What was measured here, and hollow beside it what others published of the same quantity."""

from typing import Any

import altair as alt

from regatta.analysis.results import Analysis
from regatta.ledger.axes import Axis
from regatta.report.charts.charts import lines
from regatta.report.charts.parts import (
    HEIGHT,
    SHOWN,
    Named,
    Rows,
    colour_of,
    data_of,
    finished,
    is_logarithmic,
    layered,
    shape_of,
    tooltips,
    unchecked,
    value_scale,
)

MOST_BARS = 60
"""More of them are too thin to be told apart."""
FAINT = 0.45
"""Opacity of a bar: its interval and its design's point are seen on it."""


@unchecked
def lines_beside(
    analysis: Analysis, axis: Axis, named: Named, rows: Rows, theirs: Rows
) -> dict[str, Any]:
    """A line a design over the steps of the axis; with one step bars."""
    if len({row["step"] for row in rows}) == 1:
        return bars_beside(analysis, axis, named, rows, theirs)
    ours = lines(analysis, axis, named, _data(rows), [*rows, *theirs])
    if not theirs:
        return finished(ours, analysis)
    x = alt.X("step:Q", title=axis.many)
    y = alt.Y("value:Q", title=named.unit or None)
    hollow = _hollow(analysis, axis, named, theirs, {"x": x, "y": y})
    return finished(layered(ours, hollow, height=HEIGHT), analysis)


@unchecked
def bars_beside(
    analysis: Analysis, axis: Axis, named: Named, rows: Rows, theirs: Rows
) -> dict[str, Any]:
    """A bar a design at each step of the axis; points where bars would say nothing."""
    logarithmic = is_logarithmic([*rows, *theirs])
    scale = value_scale([*rows, *theirs]) if logarithmic else alt.Scale(zero=True, nice=True)
    title = named.unit or None
    at = {
        "x": alt.X("step:O", title=axis.many, axis=alt.Axis(labelAngle=0)),
        "xOffset": alt.XOffset("design:N", scale=alt.Scale(domain=analysis.contenders)),
    }
    y = alt.Y("value:Q", title=title, scale=scale)
    colour = colour_of(analysis)
    data = _data(rows)
    known = data.transform_filter("isValid(datum.low)")
    low = alt.Y("low:Q", title=title, scale=scale)
    layers: list[alt.Chart] = [
        known.mark_rule(strokeWidth=1.5).encode(**at, y=low, y2=alt.Y2("high:Q"), color=colour),
        data.mark_point(filled=True, size=45, opacity=1).encode(
            **at, y=y, color=colour, shape=shape_of(analysis), tooltip=tooltips(axis, named)
        ),
    ]
    # A bar stands on 0, which a logarithmic axis has not.
    if not logarithmic and len(rows) <= MOST_BARS:
        layers.insert(0, data.mark_bar(opacity=FAINT).encode(**at, y=y, color=colour))
    if theirs:
        layers.append(_hollow(analysis, axis, named, theirs, {**at, "y": y}))
    return finished(layered(*layers, height=HEIGHT), analysis)


def _hollow(
    analysis: Analysis, axis: Axis, named: Named, theirs: Rows, at: dict[str, Any]
) -> alt.Chart:
    """Nobody knows how sure a single published figure is."""
    points = _data(theirs).mark_point(filled=False, size=60, opacity=1, strokeWidth=1.5)
    drawn: alt.Chart = points.encode(
        **at,
        color=colour_of(analysis),
        shape=shape_of(analysis),
        tooltip=[alt.Tooltip("source:N", title="published"), *tooltips(axis, named)[:3]],
    )
    return drawn


def _data(rows: Rows) -> alt.Chart:
    return data_of(rows).transform_filter(SHOWN)
