"""Charts of figures measured here, with published figures of the same quantity as hollow points."""

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
"""More bars would be too thin to tell apart."""
FAINT = 0.45
"""Opacity of a bar, so that the interval and the point on it are visible."""


@unchecked
def lines_beside(
    analysis: Analysis, axis: Axis, named: Named, rows: Rows, theirs: Rows
) -> dict[str, Any]:
    """Lines over the axis; bars if there is only one step."""
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
    data = _data(rows)
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


def _hollow(
    analysis: Analysis, axis: Axis, named: Named, theirs: Rows, at: dict[str, Any]
) -> alt.Chart:
    """Hollow, because the uncertainty of a published figure is unknown."""
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
