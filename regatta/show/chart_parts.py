"""Shared parts of charts: data points, scales, and the style of each design."""

from collections.abc import Callable
from typing import Any, Protocol

import altair as alt
from altair.utils.schemapi import debug_mode

from regatta.analysis.estimates import OVER, Estimate
from regatta.analysis.results import Analysis
from regatta.ledger.axes import Axis
from regatta.show.numbers import interval_of, value_of
from regatta.show.palette import Style, styles
from regatta.show.view import Spec

HEIGHT = 200
INNER = ("data", "mark", "encoding", "transform", "layer")
"""Keys that belong to a layer."""
LOG_FROM = 20
"""Values that span more than this factor get a logarithmic axis."""
TOO_FEW = "none: too few trials"
SHOWN = "indexof(shown, datum.design) >= 0"
"""A filter: the designs that the reader has left checked."""
unchecked = debug_mode(False)
"""Skips altair's validation, which would take most of a report's time; the tests validate."""
Rows = list[dict[str, Any]]
Layers = alt.LayerChart | alt.FacetChart
"""The types that altair declares for layers."""


class Named(Protocol):
    """What a chart shows: a metric or a counter."""

    @property
    def label(self) -> str: ...

    @property
    def unit(self) -> str: ...


def chart_row(design: str, step: int, estimate: Estimate, named: Named) -> dict[str, Any]:
    """One point of a chart, with its interval.

    A percentile of which only a lower bound is known is drawn at that bound; without it a chart
    would show only the fast designs.
    """
    is_over = estimate.state == OVER
    value = estimate.low if is_over else estimate.value
    assert value is not None, "what is drawn was measured"
    row = {
        "design": design,
        "step": step,
        "value": drawn_digits(value),
        "says": f"{value_of(estimate)} {named.unit}".strip(),
        "interval": interval_of(estimate) or ("not known" if is_over else TOO_FEW),
        "trials": estimate.trials,
    }
    if estimate.low is not None and not is_over:
        row["low"] = drawn_digits(estimate.low)
        row["high"] = drawn_digits(value if estimate.high is None else estimate.high)
    return row


def data_of(rows: Rows) -> alt.Chart:
    """A chart of these points, without a mark."""
    # altair deep-copies lists in every method call, but not tuples.
    return alt.Chart(alt.InlineData(values=tuple(rows)))


def layered(*layers: alt.Chart | Spec, height: int | Spec) -> Spec:
    """The same as `alt.layer`, without its repeated copies, which took most of a report's time."""
    whole: Spec = {"$schema": alt.SCHEMA_URL, "height": height, "datasets": {}, "layer": []}
    for layer in layers:
        spec = dict(layer) if isinstance(layer, dict) else layer.to_dict(validate=False)
        whole["datasets"] |= {name: list(rows) for name, rows in spec.pop("datasets").items()}
        whole["layer"].append({key: spec[key] for key in spec if key in INNER})
    names = [layer["data"] for layer in whole["layer"]]
    if all(name == names[0] for name in names):
        whole["data"] = names[0]
        for layer in whole["layer"]:
            del layer["data"]
    return whole


def finished(chart: Spec, analysis: Analysis) -> Spec:
    """As wide as its container, with the signal of the shown designs."""
    shown = {"name": "shown", "value": analysis.contenders}
    return {**chart, "width": "container", "params": [shown]}


def specification(chart: Layers) -> dict[str, Any]:
    """As wide as its container."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("config", None)  # the page sets it, for its light and dark scheme
    points = {name: list(rows) for name, rows in spec["datasets"].items()}
    return spec | {"datasets": points, "width": "container"}


def colour_of(analysis: Analysis) -> alt.Color:
    scale = _scale_of(analysis, lambda style: style.colour)
    return alt.Color("design:N", scale=scale, legend=None)


def shape_of(analysis: Analysis) -> alt.Shape:
    scale = _scale_of(analysis, lambda style: style.shape)
    return alt.Shape("design:N", scale=scale, legend=None)


def dash_of(analysis: Analysis) -> alt.StrokeDash:
    scale = _scale_of(analysis, lambda style: style.dash or [1, 0])
    return alt.StrokeDash("design:N", scale=scale, legend=None)


def _scale_of(analysis: Analysis, part: Callable[[Style], Any]) -> alt.Scale:
    known = styles(analysis.contenders)
    looks = [part(known[name]) for name in analysis.contenders]
    return alt.Scale(domain=analysis.contenders, range=looks)


def tooltips(axis: Axis, named: Named) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("design:N"),
        alt.Tooltip("step:Q", title=axis.many, format=","),
        alt.Tooltip("says:N", title=named.label),
        alt.Tooltip("interval:N", title="95 % interval"),
        alt.Tooltip("trials:Q"),
    ]


def step_scale(rows: Rows) -> alt.Scale:
    numbers = [row["step"] for row in rows]
    if max(numbers) >= 8 * min(numbers):
        # symlog includes 0 and is logarithmic from 1 on.
        kind = "symlog" if min(numbers) == 0 else "log"
        return alt.Scale(type=kind, nice=False, padding=14)  # type: ignore[arg-type]
    return alt.Scale(nice=False, zero=False, padding=14)


def value_scale(rows: Rows) -> alt.Scale:
    if is_logarithmic(rows):
        return alt.Scale(type="log", nice=True)
    ends = _ends(rows)
    # From 0, unless that would press all values against the upper edge.
    return alt.Scale(zero=min(ends) < 0.6 * max(ends), nice=True)


def is_logarithmic(rows: Rows) -> bool:
    values = [row["value"] for row in rows]
    return min(_ends(rows)) > 0 and max(values) > LOG_FROM * min(values)


def _ends(rows: Rows) -> list[float]:
    return [row[end] for row in rows for end in ("value", "low", "high") if end in row]


def drawn_digits(value: float) -> float:
    """Six digits are more than a chart can show."""
    return float(f"{value:.6g}")
