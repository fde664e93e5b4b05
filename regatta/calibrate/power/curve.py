"""A power curve: the share of races that detect an effect of a given size.

A probit curve is fitted to all points by maximum likelihood. The uncertainty of the effect detected
in 80 % of races comes from resampling whole races.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats  # type: ignore[import-untyped]

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
