"""A power curve, the share of races that detect an effect of a given size; and its picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert
from numpy.typing import NDArray
from scipy import optimize, special, stats  # type: ignore[import-untyped]

from regatta.checks.calibrate.goals import interval
from regatta.checks.calibrate.shape import Shape
from regatta.errors import CalibrationError
from regatta.show.charts import SCHEMA, quantity, word
from regatta.show.palette import LIGHT, config
from regatta.show.view import Spec

# A power curve: the share of races that detect an effect of a given size. A probit curve is fitted
# to all points by maximum likelihood. The uncertainty of the effect detected in 80 % of races comes
# from resampling whole races.

SEED = 1993
FOUND = 0.8
DRAWS = 200
NARROWEST, WIDEST = 0.05, 50.0
"""Bounds of the curve's width, in percent of effect: few races may jump from none to all."""
FURTHEST = 100.0

Floats = NDArray[np.float64]
Fitted = tuple[float, float]
"""The effect detected in half of the races, and the width of the curve."""


@dataclass(frozen=True)
class Curve:
    """One step of the axis, or all steps together."""

    step: str
    effects: Floats
    """The effect measured, in percent: one row a race, one column a spin."""
    found: NDArray[np.bool_]
    """Whether the standings of that race detected the slower server."""

    @property
    def races(self) -> int:
        return len(self.effects)

    @cached_property
    def observed(self) -> Floats:
        """The actual effect of each spin: the mean over all races."""
        found: Floats = self.effects.mean(axis=0)
        return found

    @cached_property
    def unsure(self) -> Floats:
        """Half the width of the 95 % interval of each."""
        error = self.effects.std(axis=0, ddof=1) / np.sqrt(self.races)
        found: Floats = stats.t.ppf(0.975, self.races - 1) * error
        return found

    @cached_property
    def fitted(self) -> Fitted:
        return fit(self.observed, self.found.sum(axis=0), self.races)

    def share(self, effects: Floats) -> Floats:
        middle, width = self.fitted
        found: Floats = stats.norm.cdf((effects - middle) / width)
        return found

    @property
    def seen(self) -> float:
        """The effect that is detected in 80 % of races."""
        return seen_of(self.fitted)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Its 95 % interval."""
        chance = np.random.default_rng(SEED)
        drawn = []
        for _ in range(DRAWS):
            rows = chance.integers(0, self.races, self.races)
            effects, hits = self.effects[rows].mean(axis=0), self.found[rows].sum(axis=0)
            drawn.append(seen_of(fit(effects, hits, self.races, self.fitted)))
        low, high = np.quantile(drawn, [0.025, 0.975])
        return float(low), float(high)


def seen_of(fitted: Fitted) -> float:
    middle, width = fitted
    return min(FURTHEST, float(middle + stats.norm.ppf(FOUND) * width))


def fit(
    effects: Floats, hits: Sequence[int] | NDArray[np.int64], races: int, near: Fitted | None = None
) -> Fitted:
    """Middle and width of the curve by maximum likelihood."""
    counts = np.asarray(hits, dtype=np.float64)

    def unlikely(parameters: Floats) -> tuple[float, Floats]:
        """The negative log-likelihood, and its gradient by middle and log width."""
        width = np.exp(parameters[1])
        z = (effects - parameters[0]) / width
        above, below = special.log_ndtr(z), special.log_ndtr(-z)
        density = -z * z / 2 - np.log(2 * np.pi) / 2
        slopes = counts * np.exp(density - above) - (races - counts) * np.exp(density - below)
        likely = counts * above + (races - counts) * below
        return -float(likely.sum()), np.array([slopes.sum() / width, (slopes * z).sum()])

    middle, width = near or (float(np.clip(np.median(effects), 0.0, FURTHEST)), 1.0)
    found = optimize.minimize(
        unlikely,
        np.array([middle, np.log(width)]),
        jac=True,
        bounds=[(0.0, FURTHEST), (np.log(NARROWEST), np.log(WIDEST))],
    )
    return float(found.x[0]), float(np.exp(found.x[1]))


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
