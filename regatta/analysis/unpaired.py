"""How a cell of one race compares with the same cell of another: nothing pairs their trials.

Two races ran at different times, so their blocks have nothing in common. Each race's mean has its
own standard error; the two add as in Welch's test, and bootstrap-t, with each race resampled by
itself, says how (difference - truth) / error is distributed.

Within a race the blocks follow one another, and a machine that is slow in one is mostly still slow
in the next: on the build machine a block's server CPU per request correlates by 0.3 to 0.5 with the
next one's. Pairing takes that out of the contrasts inside a race; here it stays in, and trials that
were treated as independent would say "different" far too often. So the error is that of the mean of
a first-order autoregression whose correlation is measured over all cells of the race, and the
degrees of freedom are those of as many independent trials as the race is worth. Measured by
simulation, 12 blocks a race, 9 cells, skewed trials (`tests/lab/test_unpaired.py` repeats it);
false alarms at level 5 %:

    correlation of neighbouring blocks     0      0.4     0.6
    as independent trials                 5 %    18 %    32 %
    as this file does                     4 %     4 %     3 %
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from regatta.analysis.bootstrap import RESAMPLES, SEED, Studentized
from regatta.analysis.contrast import FEWEST_BLOCKS, Scale
from regatta.analysis.swaps import FEWEST_ALIKE

Floats = NDArray[np.float64]
FEWEST_FOR_BOOTSTRAP = 5
SETTLED = 10
HIGHEST = 0.8
"""The strongest correlation that is believed: beyond it a race of few blocks says nothing."""


@dataclass(frozen=True)
class Change:
    """The new race against the old one, in one cell and metric."""

    scale: Scale
    estimate: Studentized
    """On a ratio's scale of logarithms, else of the metric's unit; its `count` is one more than the
    degrees of freedom."""
    spread: float
    """The error of this comparison if each race had one block only, on the same scale."""
    chance: float = 0.0
    """Where no trial differs from the others of its race: how easily so few of them part so by
    coincidence. Whole numbers do, in two or three blocks."""

    @property
    def value(self) -> float:
        """New / old, or new - old."""
        return self._out(self.estimate.mean)

    def interval(self, level: float = 0.05) -> tuple[float, float]:
        """Of the value; it misses the truth with probability `level`."""
        found = self.estimate.interval(level)
        assert found is not None, "both races have at least two blocks"
        if self.chance > level:  # no change is as likely as this one
            found = min(found[0], 0.0), max(found[1], 0.0)
        return self._out(found[0]), self._out(found[1])

    def p_value(self, beyond: float) -> float:
        """Two-sided, of the hypothesis that the truth is `beyond` (a ratio or a difference)."""
        mean, tested = self.estimate.mean, self._in(beyond)
        p_value = replace(self.estimate, mean=mean - tested).p_value()
        inside = min(mean, 0.0) <= tested <= max(mean, 0.0)
        return max(p_value, self.chance) if inside else p_value

    def blocks_for(self, beyond: float) -> int | None:
        """Blocks that each race would need to tell no change from `beyond` four times in five."""
        distance = abs(self._in(beyond))
        if distance == 0:
            return None
        if self.chance:
            return FEWEST_ALIKE
        needed = FEWEST_BLOCKS + 1
        for _ in range(SETTLED):  # the fewer the blocks, the wider Student's distribution
            freedom = 2 * (needed - 1)
            reach = stats.t.ppf(0.975, freedom) + stats.t.ppf(0.8, freedom)
            enough = math.ceil((reach * self.spread / distance) ** 2)
            needed = max(FEWEST_BLOCKS + 1, enough)
        return needed

    def _in(self, value: float) -> float:
        return math.log(value) if self.scale == "ratio" else value

    def _out(self, inner: float) -> float:
        return math.exp(inner) if self.scale == "ratio" else inner


@dataclass(frozen=True)
class Sample:
    """One race's trials of a cell: one number a block, in the order of the blocks."""

    values: Floats
    correlation: float = 0.0
    """Of a block with the next, over the whole race (`correlation`)."""


def unpaired(old: Sample, new: Sample) -> Change | None:
    """None if a race has fewer than two blocks of the cell."""
    samples = (old, new)
    if min(len(sample.values) for sample in samples) < FEWEST_BLOCKS:
        return None
    if min(float(sample.values.min()) for sample in samples) > 0:
        logs = [replace(sample, values=np.log(sample.values)) for sample in samples]
        return _change("ratio", logs[0], logs[1])
    return _change("difference", old, new)


def correlation(series: Sequence[Floats]) -> float:
    """Of a block with the next: from 0 to `HIGHEST`, over all cells of a race together.

    Each series is one cell's values, in the order of the blocks. What is seen in a short series is
    less than the truth, by 1 + 3 times it in each block; that is given back.
    """
    together, alone, blocks = 0.0, 0.0, []
    for values in series:
        if len(values) <= FEWEST_BLOCKS + 1:
            continue
        logs = np.log(values) if values.min() > 0 else values
        if (spread := float(logs.std())) == 0:
            continue
        standard = (logs - logs.mean()) / spread
        together += float((standard[:-1] * standard[1:]).mean())
        alone += 1
        blocks.append(len(values))
    if not alone:
        return 0.0
    count = float(np.mean(blocks))
    return float(np.clip((together / alone + 1 / count) / (1 - 3 / count), 0, HIGHEST))


def _change(scale: Scale, old: Sample, new: Sample) -> Change:
    difference = float(new.values.mean() - old.values.mean())
    parts = [_error_squared(sample) for sample in (old, new)]
    error = math.sqrt(sum(parts))
    size = max(abs(float(new.values.mean())), abs(float(old.values.mean())), 1e-300)
    if error <= 1e-12 * size:
        fewest = min(len(old.values), len(new.values))
        chance = 0.0 if fewest >= FEWEST_ALIKE else 2.0 ** (1 - fewest)  # as in swaps.py
        return Change(scale, Studentized(difference, 0.0, 2, None), 0.0, chance)
    freedom = _freedom(parts, [len(sample.values) / _inflation(sample) for sample in (old, new)])
    believed = _freedom(parts, [float(len(sample.values)) for sample in (old, new)])
    t_values = _t_values(old, new)
    if t_values is not None:
        # The resamples are of independent trials; the race is worth fewer of them.
        t_values = t_values * float(stats.t.ppf(0.975, freedom) / stats.t.ppf(0.975, believed))
    spread = math.sqrt(
        sum(part * len(sample.values) for part, sample in zip(parts, (old, new), strict=True))
    )
    estimate = Studentized(difference, error, max(1, round(freedom)) + 1, t_values)
    return Change(scale, estimate, spread)


def _freedom(parts: list[float], worth: list[float]) -> float:
    """Welch's degrees of freedom, of two races that are worth so many independent trials."""
    own = [part**2 / max(count - 1, 0.5) for part, count in zip(parts, worth, strict=True)]
    return float(sum(parts) ** 2 / sum(own))


def _inflation(sample: Sample) -> float:
    """How much larger the variance of the mean is than that of as many independent trials."""
    count, rho = len(sample.values), sample.correlation
    lags = np.arange(1, count)
    return float(1 + 2 * ((1 - lags / count) * rho**lags).sum())


def _error_squared(sample: Sample) -> float:
    count, inflation = len(sample.values), _inflation(sample)
    # Values that move together vary less around their own mean than around the truth.
    shrunk = (count - 1) / (count - inflation)
    return float(sample.values.var(ddof=1)) * shrunk * inflation / count


def _t_values(old: Sample, new: Sample) -> Floats | None:
    """Sorted; None where Student's distribution stands in."""
    if min(len(old.values), len(new.values)) < FEWEST_FOR_BOOTSTRAP:
        return None
    differences, errors = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for sign, number, sample in ((-1, 0, old), (1, 1, new)):
        drawn = sample.values[_resamples(len(sample.values), number)]
        differences = differences + sign * (drawn.mean(axis=1) - sample.values.mean())
        errors = errors + drawn.var(axis=1, ddof=1) / len(sample.values)
    flat = errors <= 1e-18 * np.max(errors)
    if flat.mean() > 0.01:
        return None
    return np.sort(differences[~flat] / np.sqrt(errors[~flat]))


@cache
def _resamples(count: int, race: int) -> NDArray[np.int64]:
    """Which trials each resample draws; another seed for each race, or equal ones would pair."""
    generator = np.random.default_rng((SEED, race))
    return generator.integers(0, count, (RESAMPLES, count))
