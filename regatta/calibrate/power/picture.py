"""Writes power curves as an SVG picture and a Markdown table into the folder of the races."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert

from regatta.calibrate.binomial import interval
from regatta.calibrate.power.curve import FOUND, Curve
from regatta.calibrate.shape import Shape
from regatta.errors import CalibrationError
from regatta.show.charts import SCHEMA, quantity, word
from regatta.show.palette import LIGHT, config
from regatta.show.view import Spec

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


def picture(shape: Shape, curves: Sequence[Curve]) -> Spec:
    points = point_rows(curves)
    furthest = max([row["effect"] for row in points] + [1.0])
    effects = np.linspace(0, furthest, DRAWN)
    lines = [
        {"step": curve.step, "effect": float(effect), "found": float(share)}
        for curve in curves
        for effect, share in zip(effects, curve.share(effects), strict=True)
    ]
    colour = word("step", sort=[curve.step for curve in curves])
    x = quantity("effect", title="actual effect, % of server CPU per request")
    shares = {"axis": {"format": "%"}, "scale": {"domain": [0, 1]}}
    y = quantity("found", title="races that find it", **shares)
    at = {"x": x, "y": y, "color": colour}
    layers = [
        {
            "data": {"values": [{"found": FOUND}]},
            "mark": {"type": "rule", "strokeDash": [4, 4]},
            "encoding": {"y": y},
        },
        {"data": {"values": lines}, "mark": "line", "encoding": at},
        {
            "mark": {"type": "rule", "opacity": 0.4},
            "encoding": {**at, "y": quantity("low"), "y2": {"field": "high"}},
        },
        {"mark": {"type": "point", "filled": True, "size": 45}, "encoding": at},
    ]
    under = f"{curves[0].races} fresh races, {shape.words()}; bars are exact 95 % intervals"
    titled = {"text": f"How small a difference a race of {shape.name}'s shape finds"}
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": HEIGHT,
        "title": {**titled, "subtitle": under},
        "data": {"values": points},
        "layer": layers,
    }


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
