"""The kinds of intervals in a report (`KINDS`): how each is computed from blocks, by the functions
of a report, and its truth, which is the value over all real blocks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from regatta.judge.overheads import differences
from regatta.judge.statistics.autocorrelation import Reach
from regatta.judge.statistics.comparisons_with_best import standings
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.percentiles import RequestLatencies, percentile_intervals
from tests.lab.interval_coverage.draw import Blocks, Floats


@dataclass(frozen=True)
class RealBlocks:
    costs: dict[str, Floats]
    """Server CPU by contender, one value a block, in the order of the race."""
    waits: dict[str, list[RequestLatencies]]
    """By contender, one a block."""


@dataclass(frozen=True)
class IntervalCheck:
    """One interval of a race, or several simultaneous ones."""

    figures: Floats
    """One value for each real block. Similar values become neighbours in a drawn race."""
    holds: Callable[..., bool]
    """Whether it contains the truth; called with the blocks of each of the `races`."""
    races: int = 1


Checks = Callable[[RealBlocks, Reach], Iterator[IntervalCheck]]
"""Yields one check for each contender or pair."""


@dataclass(frozen=True)
class Kind:
    checks: Checks
    blocks: tuple[int, ...]
    most: float = 1.0
    """The largest acceptable coverage; beyond it the interval is needlessly wide. It is 1 where few
    blocks cannot show the correlation of neighbours and the interval is conservative."""


def within(truth: float, low: float | None, high: float | None) -> bool:
    """An end of None is unbounded."""
    return (low is None or low <= truth) and (high is None or truth <= high)


def levels(real: RealBlocks, reach: Reach) -> Iterator[IntervalCheck]:
    for figures in real.costs.values():

        def holds(race: Blocks, figures: Floats = figures) -> bool:
            far = reach(figures[race])
            return far is None or abs(figures[race].mean() - figures.mean()) <= far

        yield IntervalCheck(figures, holds)


def slowest(real: RealBlocks, reach: Reach) -> Iterator[IntervalCheck]:
    """One-sided: the slowest request of as many other trials must reach the low end."""
    for trials in real.waits.values():

        def holds(race: Blocks, again: Blocks, trials: list[RequestLatencies] = trials) -> bool:
            (found,) = percentile_intervals([trials[block] for block in race], [1.0], reach)
            return (found.low or 0.0) <= max(float(trials[block].known[-1]) for block in again)

        yield IntervalCheck(np.array([float(trial.known[-1]) for trial in trials]), holds, races=2)


def log_ratios(real: RealBlocks) -> list[Floats]:
    """Noise common to a block cancels in ratios, so ratios determine the correlation."""
    return [np.log(other / of_one) for of_one, other in combinations(real.costs.values(), 2)]


def ratios(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """Leads and twins: the mean logarithm of the ratios of pairs."""
    for values in log_ratios(real):

        def holds(race: Blocks, values: Floats = values) -> bool:
            found = PairedMean(values[race]).interval()
            return within(float(values.mean()), found.low, found.high)

        yield IntervalCheck(values, holds)


def numbered(values: Floats) -> dict[int, float]:
    return {block: float(value) for block, value in enumerate(values)}


def against_the_best(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """A whole column: each contender against the best of the others."""
    logs = {name: np.log(values) for name, values in real.costs.items()}
    truth = {name: float(values.mean()) for name, values in logs.items()}
    behind = {
        name: mine - min(loss for other, loss in truth.items() if other != name)
        for name, mine in truth.items()
    }

    def holds(race: Blocks) -> bool:
        drawn = {name: numbered(values[race]) for name, values in logs.items()}
        (found,) = standings([[drawn]])
        return all(within(behind[name], of_one.low, of_one.high) for name, of_one in found.items())

    for values in log_ratios(real):
        yield IntervalCheck(values, holds)


def beyond_a_baseline(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """CPU time beyond that of the first contender, for all others at once."""
    base = next(iter(real.costs))
    beyond = {name: values - real.costs[base] for name, values in real.costs.items()}

    def holds(race: Blocks) -> bool:
        drawn = {name: numbered(values[race]) for name, values in real.costs.items()}
        return all(
            within(float(beyond[of_one.contender].mean()), of_one.low, of_one.high)
            for of_one in differences({0: drawn}, base)
        )

    for name in beyond.keys() - {base}:
        yield IntervalCheck(beyond[name], holds)


FEW, FAMILIES, LEVELS = (5, 10, 20), (6, 10, 20), (5, 6, 8, 10, 20, 40)

KINDS: Mapping[str, Kind] = {
    "ratio of two": Kind(ratios, FEW, most=0.97),
    "a column against its best": Kind(against_the_best, FAMILIES),
    "all beyond a baseline": Kind(beyond_a_baseline, FAMILIES),
    "level of server CPU": Kind(levels, LEVELS),
    "slowest of as many again": Kind(slowest, FEW),
}
