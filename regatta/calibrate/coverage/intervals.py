"""Every kind of interval that a report prints: how it is made of some blocks, and what is true.

`KINDS` is the list. What is true is what all real blocks together show, as each of them comes as
often as any other where races are drawn from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from regatta.analysis.best import standings
from regatta.analysis.metrics import FRACTIONS, P50, P99, PRIMARY, THROUGHPUT
from regatta.analysis.percentile_intervals import percentile_intervals
from regatta.analysis.serial import Interval
from regatta.analysis.swaps import Swapped
from regatta.analysis.unpaired import Sample, unpaired
from regatta.analysis.waits import Waits, pool
from regatta.calibrate.coverage.draw import Blocks
from regatta.calibrate.coverage.real import Real

Floats = NDArray[np.float64]
Reach = Callable[[Floats], float | None]
"""How far the interval of a mean reaches."""


@dataclass(frozen=True)
class Asked:
    """One interval that a race of real blocks has."""

    figures: Floats
    """One a real block: those that are near by them are near in a drawn race."""
    holds: Callable[..., bool]
    """Whether it holds what is true. It is given the blocks of each race."""
    races: int = 1


@dataclass(frozen=True)
class Kind:
    name: str
    where: str
    """It is printed."""
    asked: Callable[[Real, Reach], Iterator[Asked]]
    """One for each contender or pair."""
    blocks: tuple[int, ...]
    most: float = 1.0
    """It holds the truth in no larger share: beyond it an interval is wider than it need be. Where
    few blocks cannot tell how alike neighbours are it errs to the wide side, and this is 1."""


def independent(values: Floats) -> float | None:
    """Student's t, as if no block were like the next: what `--inject independent` puts in."""
    count = len(values)
    return float(stats.t.isf(0.025, count - 1) * values.std(ddof=1) / math.sqrt(count))


def levels(metric: str) -> Callable[[Real, Reach], Iterator[Asked]]:
    def asked(real: Real, reach: Reach) -> Iterator[Asked]:
        for figures in real.figures.get(metric, {}).values():
            yield Asked(figures, lambda race, of=figures: _near(of, race, reach))

    return asked


def held(real: Real, reach: Reach) -> Iterator[Asked]:
    """The geometric mean of what the blocks of a search hold."""
    for figures in real.figures.get(THROUGHPUT.name, {}).values():
        logs = np.log(figures)
        yield Asked(logs, lambda race, of=logs: _near(of, race, reach))


def _near(figures: Floats, race: Blocks, reach: Reach) -> bool:
    drawn = figures[race]
    return abs(float(drawn.mean() - figures.mean())) <= (reach(drawn) or 0.0)


def percentiles(metric: str) -> Callable[[Real, Reach], Iterator[Asked]]:
    fraction = FRACTIONS[metric]

    def asked(real: Real, reach: Reach) -> Iterator[Asked]:
        for trials in real.waits.values():
            truth = pool(trials).percentile(fraction)

            def holds(race: Blocks, trials: list[Waits] = trials, truth: float = truth) -> bool:
                own = [trials[block] for block in race]
                (found,) = percentile_intervals(own, [fraction], reach)
                if not isinstance(found, Interval):
                    return found.at_least <= truth
                low, high = found.low or 0.0, np.inf if found.high is None else found.high
                return bool(low <= truth <= high)

            yield Asked(np.array([trial.percentile(fraction) for trial in trials]), holds)

    return asked


def slowest(real: Real, reach: Reach) -> Iterator[Asked]:
    """The slowest request has a lower end alone: what as many trials again exceed or reach."""
    for trials in real.waits.values():

        def holds(race: Blocks, again: Blocks, trials: list[Waits] = trials) -> bool:
            (found,) = percentile_intervals([trials[block] for block in race], [1.0], reach)
            assert isinstance(found, Interval)
            return (found.low or 0.0) <= max(float(trials[block].known[-1]) for block in again)

        yield Asked(np.array([float(trial.known[-1]) for trial in trials]), holds, races=2)


def ratios(real: Real, _: Reach) -> Iterator[Asked]:
    """Leads, twins and the parts of claims: the mean of the logarithms of pairs."""
    for values in _logs_apart(real.figures[PRIMARY.name]):
        yield Asked(values, lambda race, of=values: _in_pairs(of, race))


def differences(real: Real, reach: Reach) -> Iterator[Asked]:
    """CPU time beyond a baseline."""
    for one, other in combinations(real.figures[PRIMARY.name].values(), 2):
        yield Asked(other - one, lambda race, of=other - one: _near(of, race, reach))


def warm_up(real: Real, _: Reach) -> Iterator[Asked]:
    for values in real.first_to_last.values():
        yield Asked(values, lambda race, of=values: _in_pairs(of, race))


def _in_pairs(values: Floats, race: Blocks) -> bool:
    low, high = Swapped(values[race]).interval() or (-np.inf, np.inf)
    return bool(low <= float(values.mean()) <= high)


def _logs_apart(figures: Mapping[str, Floats]) -> list[Floats]:
    return [np.log(other / one) for one, other in combinations(figures.values(), 2)]


def beside_the_best(real: Real, _: Reach) -> Iterator[Asked]:
    """A whole column at once: each contender beside the best of the others."""
    logs = {name: np.log(own) for name, own in real.figures[PRIMARY.name].items()}
    truth = {name: float(own.mean()) for name, own in logs.items()}

    def holds(race: Blocks) -> bool:
        drawn = {name: dict(enumerate(own[race])) for name, own in logs.items()}
        (found,) = standings([[drawn]])
        return all(one.low <= _behind(truth, name) <= one.high for name, one in found.items())

    # What a block does to all of them is in no ratio; neighbours are as alike as ratios are.
    yield from (Asked(values, holds) for values in _logs_apart(real.figures[PRIMARY.name]))


def _behind(truth: Mapping[str, float], name: str) -> float:
    return truth[name] - min(loss for other, loss in truth.items() if other != name)


def change(real: Real, _: Reach) -> Iterator[Asked]:
    """`compare`: the same contender in two races between which nothing changed."""
    for own in real.figures[PRIMARY.name].values():

        def holds(old: Blocks, new: Blocks, own: Floats = own) -> bool:
            found = unpaired(Sample(own[old]), Sample(own[new]))
            assert found is not None
            low, high = found.interval()
            return low <= 1 <= high

        yield Asked(own, holds, races=2)


BLOCKS = (5, 10, 20)
LEVELS = (5, 6, 8, 10, 20, 40)
SEARCHES = (4,)
MOST = 0.97

KINDS = (
    Kind("ratio of two", "leads, twins, claims", ratios, BLOCKS, MOST),
    Kind("a column beside its best", "standings, advice", beside_the_best, (6, 10, 20)),
    Kind("first segment to last", "warm-up", warm_up, BLOCKS, MOST),
    Kind("level of server CPU", "standings, charts, claims", levels(PRIMARY.name), LEVELS),
    Kind("level of throughput", "standings, charts", levels(THROUGHPUT.name), LEVELS),
    Kind("difference of two", "beyond a baseline", differences, BLOCKS),
    Kind("p50", "standings, charts, knee", percentiles(P50.name), LEVELS),
    Kind("p99", "standings, charts, knee", percentiles(P99.name), LEVELS),
    Kind("slowest of as many again", "standings", slowest, BLOCKS),
    Kind("rate that is held", "matched loads", held, SEARCHES),
    Kind("change between races", "compare", change, BLOCKS),
)
