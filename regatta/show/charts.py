"""Charts as Vega-Lite (https://vega.github.io/vega-lite), as wide as their container and without
configuration: a browser or vl-convert draws them, and knows the size and the colour scheme."""

from collections.abc import Mapping, Sequence
from typing import Any

from regatta.judge.estimates import DRAWN, OVER, Estimate
from regatta.judge.held_rates import HeldGroup
from regatta.judge.results import Analysis, Group
from regatta.record.cell import AXES, Axis
from regatta.record.metrics import Metric
from regatta.show.numbers import interval_of, short, value_of
from regatta.show.palette import styles
from regatta.show.view import Spec

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
HEIGHT = 200
BAR_HEIGHT = 26
"""Of a divided bar, with the space below."""
LOG_FROM = 20
"""Values that span more than this factor get a logarithmic axis."""
MOST_BANDS = 5
"""With more designs, bands would hide one another; the bars remain."""
MOST_TICKS = 12
"""With more steps, the axis chooses its own ticks."""
TOO_FEW = "none: too few trials"
WITH_INTERVAL = {"filter": "isValid(datum.low)"}
SHOWN = {"filter": "indexof(shown, datum.design) >= 0"}
Rows = list[dict[str, Any]]


def quantity(name: str, **more: Any) -> Spec:
    return {"field": name, "type": "quantitative", **more}


def word(name: str, **more: Any) -> Spec:
    return {"field": name, "type": "nominal", **more}


def tip(name: str, title: str) -> Spec:
    return word(name, title=title)


def drawn_digits(value: float) -> float:
    """Six digits are more than a chart can show."""
    return float(f"{value:.6g}")


def looks(contenders: list[str], part: str) -> Spec:
    """The colour, shape or dash of each design. The page has one legend for all charts."""
    known = styles(contenders)
    parts = [getattr(known[name], part) or [1, 0] for name in contenders]
    return word("design", scale={"domain": contenders, "range": parts}, legend=None)


def layer(mark: str, encoding: Spec, bounded: bool = False, **look: Any) -> Spec:
    """`bounded`: of the rows that have an interval."""
    of = {"transform": [WITH_INTERVAL]} if bounded else {}
    return {**of, "mark": {"type": mark, **look}, "encoding": encoding}


def chart(contenders: list[str], rows: Rows, layers: Sequence[Spec], height: int | Spec) -> Spec:
    """Of the designs that the reader has left checked."""
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": height,
        "params": [{"name": "shown", "value": contenders}],
        "data": {"values": rows},
        "transform": [SHOWN],
        "layer": layers,
    }


def chart_row(design: str, step: int, estimate: Estimate, metric: Metric) -> dict[str, Any]:
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
        "says": f"{value_of(estimate)} {metric.unit}".strip(),
        "interval": interval_of(estimate) or ("not known" if is_over else TOO_FEW),
        "trials": estimate.trials,
    }
    if estimate.low is not None and not is_over:
        row["low"] = drawn_digits(estimate.low)
        row["high"] = drawn_digits(value if estimate.high is None else estimate.high)
    return row


def metric_rows(group: Group, metric: Metric, side: str) -> Rows:
    """The points of a chart; empty if no contender has the metric."""
    return [
        chart_row(result.cell.contender, step, estimate, metric)
        for step, result in group.step_cells()
        if (estimate := result.estimates.get((side, metric.name))) and estimate.state in DRAWN
    ]


def metric_spec(analysis: Analysis, group: Group, metric: Metric, side: str) -> Spec:
    """Lines over the axis; with one step, a row a design."""
    rows, names = metric_rows(group, metric, side), analysis.contenders
    if len({row["step"] for row in rows}) > 1:
        return chart(names, rows, lines(names, group.axis, metric, rows), HEIGHT)
    at = {
        "y": word("design", title=None, sort=names, axis={"labelLimit": 140}),
        "color": looks(names, "colour"),
    }
    place = {"title": metric.unit or None, "scale": value_scale(rows)}
    ends = {**at, "x": quantity("low", **place), "x2": {"field": "high"}}
    tips = {"tooltip": tooltips(group.axis, metric)}
    spots = {**at, "x": quantity("value", **place), "shape": looks(names, "shape"), **tips}
    layers = [
        layer("rule", ends, bounded=True, strokeWidth=2),
        layer("point", spots, filled=True, size=70, opacity=1),
    ]
    return chart(names, rows, layers, {"step": 26})


def lines(contenders: list[str], axis: Axis, metric: Metric, rows: Rows) -> list[Spec]:
    """`rows`: what the scales must cover."""
    steps = sorted({row["step"] for row in rows})
    ticks: Spec = {"labelOverlap": True, **({"values": steps} if len(steps) <= MOST_TICKS else {})}
    unit = metric.unit or None
    x = quantity("step", title=axis.many, scale=step_scale(steps), axis=ticks)
    y = quantity("value", title=unit, scale=value_scale(rows))
    at = {"x": x, "color": looks(contenders, "colour")}
    ends = {**at, "y": quantity("low", title=unit), "y2": {"field": "high"}}
    spots = {**at, "y": y, "shape": looks(contenders, "shape"), "tooltip": tooltips(axis, metric)}
    band = layer("area", ends, bounded=True, opacity=0.13, tooltip=None)
    return [
        *([band] if len(contenders) <= MOST_BANDS else []),
        layer("line", {**at, "y": y, "strokeDash": looks(contenders, "dash")}, strokeWidth=1.75),
        layer("rule", ends, bounded=True, strokeWidth=1.5),
        layer("point", spots, filled=True, size=55, opacity=1),
    ]


def tooltips(axis: Axis, metric: Metric) -> list[Spec]:
    return [
        tip("design", "design"),
        quantity("step", title=axis.many, format=","),
        tip("says", metric.label),
        tip("interval", "95 % interval"),
        quantity("trials"),
    ]


def step_scale(steps: list[int]) -> Spec:
    if steps[-1] >= 8 * steps[0]:
        # symlog includes 0 and is logarithmic from 1 on.
        return {"type": "log" if steps[0] else "symlog", "nice": False, "padding": 14}
    return {"nice": False, "zero": False, "padding": 14}


def value_scale(rows: Rows) -> Spec:
    values = [row["value"] for row in rows]
    ends = [row[end] for row in rows for end in ("value", "low", "high") if end in row]
    if min(ends) > 0 and max(values) > LOG_FROM * min(values):
        return {"type": "log", "nice": True}
    # From 0, unless that would press all values against the upper edge.
    return {"zero": min(ends) < 0.6 * max(ends), "nice": True}


def knee_spec(analysis: Analysis, group: HeldGroup, metric: Metric, name: str) -> Spec:
    """A latency of each contender over the rates up to the one that it holds."""
    rows = [
        chart_row(held.cell.contender, point.rate, getattr(point, name), metric)
        for held in group.kneed
        for point in held.knee
        if getattr(point, name).state in DRAWN
    ]
    names = analysis.contenders
    return chart(names, rows, lines(names, AXES["rate"], metric, rows), HEIGHT)


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
    names = analysis.contenders
    at = {
        "x": quantity(
            "ms",
            title="latency, ms (logarithmic)",
            scale={"type": "log", "nice": False, "padding": 8},
            axis={"labelOverlap": True, "tickCount": 8, "format": "~g"},
        ),
        "y": quantity(
            "share",
            title="requests answered",
            scale={"domain": [0, 1]},
            axis={"format": "%", "tickCount": 5},
        ),
        "color": looks(names, "colour"),
    }
    steps = {**at, "strokeDash": looks(names, "dash"), "order": quantity("share")}
    spots = {**at, "tooltip": [tip("design", "design"), tip("says", "answered")]}
    layers = [
        layer("line", steps, interpolate="step-after", strokeWidth=2, tooltip=None),
        layer("point", spots, filled=True, size=90, opacity=0),
    ]
    return chart(names, rows, layers, 320)


def warm_up_spec(analysis: Analysis) -> Spec:
    """CPU per request of each server's first process against its requests so far."""
    rows: Rows = []
    for warm in analysis.warm_ups:
        so_far = 0
        for part in warm.curve:
            so_far += part.requests
            rows.append(
                {
                    "design": warm.contender,
                    "line": f"{warm.contender} {warm.work}",
                    "step": so_far,
                    "value": drawn_digits(part.cpu_us),
                    "says": f"{short(part.cpu_us)} µs, p50 {short(part.p50_us)} µs",
                }
            )
    title = "requests so far"
    at = {
        "x": quantity("step", title=title),
        "y": quantity("value", title="µs", scale=value_scale(rows)),
        "color": looks(analysis.contenders, "colour"),
        "detail": word("line"),
    }
    tips = [tip("design", "design"), quantity("step", title=title, format=",")]
    spots = {**at, "tooltip": [*tips, tip("says", "server CPU")]}
    layers = [
        layer("line", at, strokeWidth=1.75, tooltip=None),
        layer("point", spots, filled=True, size=25, opacity=1),
    ]
    return chart(analysis.contenders, rows, layers, HEIGHT)


def divided_bars(
    names: Sequence[str],
    parts: Mapping[tuple[str, str], float],
    kinds: Sequence[str],
    colours: Sequence[str],
    title: str,
) -> Spec:
    """A bar a contender, in this order. `parts`: µs by contender and kind; `title`: of a kind."""
    rows = [
        {
            "design": name,
            title: kind,
            "order": kinds.index(kind),
            "value": drawn_digits(us),
            "says": f"{short(us)} µs",
        }
        for (name, kind), us in parts.items()
    ]
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": BAR_HEIGHT * len(names),
        "params": [{"name": "shown", "value": list(names)}],
        "data": {"values": rows},
        "transform": [SHOWN],
        "mark": {"type": "bar"},
        "encoding": {
            "y": word("design", title=None, sort=list(names), axis={"labelLimit": 140}),
            "x": quantity("value", title="µs"),
            "color": word(title, title=None, scale={"domain": list(kinds), "range": list(colours)}),
            "order": quantity("order"),
            "tooltip": [tip("design", "design"), tip(title, title), tip("says", "takes")],
        },
    }
