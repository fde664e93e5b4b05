"""The charts of a lab; each design has the same colour and shape as in all other reports."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from regatta.show.chart_parts import Layers, drawn_digits
from regatta.show.palette import styles

HEIGHT = 240
MS = "server CPU time, ms"
US = "server CPU per request, µs"


def bars(values: Mapping[str, float], title: str) -> dict[str, Any]:
    """One bar per design, starting at 0."""
    rows = [{"design": name, "value": drawn_digits(value)} for name, value in values.items()]
    chart = alt.Chart(alt.InlineData(values=rows)).mark_bar(size=18)
    order = list(values)
    return _plain(
        chart.encode(
            x=alt.X("value:Q", title=title, scale=alt.Scale(zero=True)),
            y=alt.Y("design:N", title=None, sort=order, axis=alt.Axis(labelLimit=160)),
            color=_colour(order, legend=False),
        ).properties(height=alt.Step(30))
    )


def runs(values: Mapping[str, Mapping[int, float]], title: str) -> dict[str, Any]:
    """One line per design; x is the number of the run."""
    rows = [
        {"design": name, "run": run, "value": drawn_digits(value)}
        for name, by_run in values.items()
        for run, value in by_run.items()
    ]
    order = list(values)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("run:O", title="run", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", title=title, scale=alt.Scale(zero=False)),
        color=_colour(order),
    )
    known = styles(order)
    shapes = alt.Scale(domain=order, range=[known[name].shape for name in order])
    return _plain(
        alt.layer(
            base.mark_line(strokeWidth=1.25, opacity=0.6),
            base.mark_point(filled=True, size=60, opacity=1).encode(
                shape=alt.Shape("design:N", scale=shapes)
            ),
        ).properties(height=HEIGHT)
    )


def _colour(designs: Sequence[str], legend: bool = True) -> alt.Color:
    known = styles(list(designs))
    scale = alt.Scale(domain=list(designs), range=[known[name].colour for name in designs])
    return alt.Color("design:N", scale=scale, legend=alt.Undefined if legend else None)


def _plain(chart: alt.Chart | Layers) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("config", None)  # the renderer sets its own
    return spec
