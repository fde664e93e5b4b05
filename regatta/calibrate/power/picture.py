"""Writes power curves as an SVG picture and a Markdown table into the folder of the races."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import vl_convert

from regatta.calibrate.binomial import interval
from regatta.calibrate.power.curve import FOUND, Curve
from regatta.calibrate.shape import Shape
from regatta.errors import CalibrationError
from regatta.show.palette import LIGHT, config

WIDTH, HEIGHT = 560, 300
DRAWN = 80
"""The number of points of a drawn curve."""
Rows = list[dict[str, Any]]


def write_picture(folder: Path, shape: Shape, curves: Sequence[Curve]) -> Path:
    """Returns the path of the picture; the table has the same name."""
    path = folder / f"{shape.name}.svg"
    try:
        path.write_text(vl_convert.vegalite_to_svg(picture(shape, curves), config=config(LIGHT)))
        path.with_suffix(".md").write_text(table(shape, curves))
    except OSError as error:
        raise CalibrationError(f"cannot write {path}: {error.strerror}") from error
    return path


def point_rows(curves: Sequence[Curve]) -> Rows:
    """For each spin and step, the actual effect and how often it was detected."""
    rows: Rows = []
    for curve in curves:
        hits = curve.found.sum(axis=0)
        for effect, unsure, hit in zip(curve.observed, curve.unsure, hits, strict=True):
            low, high = interval(int(hit), curve.races)
            rows.append(
                {
                    "step": curve.step,
                    "effect": float(effect),
                    "unsure": float(unsure),
                    "hits": int(hit),
                    "races": curve.races,
                    "found": float(hit) / curve.races,
                    "low": low,
                    "high": high,
                }
            )
    return rows


def picture(shape: Shape, curves: Sequence[Curve]) -> dict[str, Any]:
    points = point_rows(curves)
    furthest = max([row["effect"] for row in points] + [1.0])
    effects = np.linspace(0, furthest, DRAWN)
    lines = [
        {"step": curve.step, "effect": float(effect), "found": float(share)}
        for curve in curves
        for effect, share in zip(effects, curve.share(effects), strict=True)
    ]
    colour = alt.Color("step:N", sort=[curve.step for curve in curves])
    x = alt.X("effect:Q", title="actual effect, % of server CPU per request")
    percent = alt.Axis(format="%")
    y = alt.Y("found:Q", title="races that find it", axis=percent, scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(alt.InlineData(values=points))
    drawn = alt.layer(
        alt.Chart(alt.InlineData(values=[{"found": FOUND}]))
        .mark_rule(strokeDash=[4, 4])
        .encode(y=y),
        alt.Chart(alt.InlineData(values=lines)).mark_line().encode(x=x, y=y, color=colour),
        base.mark_rule(opacity=0.4).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour),
        base.mark_point(filled=True, size=45).encode(x=x, y=y, color=colour),
    )
    under = f"{curves[0].races} fresh races, {shape.words()}; bars are exact 95 % intervals"
    titled = {"text": f"How small a difference a race of {shape.name}'s shape finds"}
    spec: dict[str, Any] = drawn.properties(width=WIDTH, height=HEIGHT).to_dict()
    return {**spec, "title": {**titled, "subtitle": under}}


def table(shape: Shape, curves: Sequence[Curve]) -> str:
    """The points, and the effect detected in 80 % of races at each step."""
    lines = [
        f"# Power of {shape.name}'s shape",
        "",
        f"{curves[0].races} fresh races of a server and the same slowed by spins: {shape.words()}.",
        "The effect is measured over all races; it is not the target of the spin.",
        "",
        "| where | effect, % | found in | of races | 95 % interval |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row['step']} | {row['effect']:.2f} ± {row['unsure']:.2f} | {row['hits']} | "
        f"{row['races']} | {100 * row['low']:.0f} to {100 * row['high']:.0f} % |"
        for row in point_rows(curves)
    ]
    lines += ["", "| where | found in 80 % of races | 95 % interval |", "| --- | ---: | ---: |"]
    for curve in curves:
        low, high = curve.interval
        lines.append(f"| {curve.step} | {curve.seen:.2f} % | {low:.2f} to {high:.2f} % |")
    return "\n".join(lines) + "\n"
