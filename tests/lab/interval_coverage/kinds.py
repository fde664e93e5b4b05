"""The kinds of intervals in a report (`KINDS`): how each is computed from blocks, by the functions
of a report, and its truth, which is the value over all real blocks."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from regatta.judge.interval import OpenInterval
from regatta.judge.overheads import differences
from regatta.judge.statistics.autocorrelation import Reach
from regatta.judge.statistics.comparisons_with_best import standings
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.percentiles import RequestLatencies, percentile_intervals, pool
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.judge.unpaired import unpaired
from tests.lab.interval_coverage.draw import Blocks, Floats

SITTINGS = 5
Holds = bool | None
"""Whether an interval contains the truth; None if it does but one end is unbounded."""


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
    holds: Callable[..., Holds]
    """Called with the blocks of each of the `races`."""
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
    every: int = 1
    """Draws only one race in this many, if an interval takes long to compute."""


def within(truth: float, low: float | None, high: float | None) -> Holds:
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    if not ends[0] <= truth <= ends[1]:
        return False
    return True if all(map(math.isfinite, ends)) else None


def together(found: Iterable[Holds]) -> Holds:
    """Whether all of several simultaneous intervals contain the truth."""
    each = list(found)
    return False if False in each else None if None in each else True


def levels(real: RealBlocks, reach: Reach) -> Iterator[IntervalCheck]:
    for figures in real.costs.values():

        def holds(race: Blocks, figures: Floats = figures) -> Holds:
            drawn, found = figures[race], reach(figures[race])
            mean, far = float(drawn.mean()), math.inf if found is None else found
            return within(float(figures.mean()), mean - far, mean + far)

        yield IntervalCheck(figures, holds)


def percentiles(fraction: float) -> Checks:
    def checks(real: RealBlocks, reach: Reach) -> Iterator[IntervalCheck]:
        for trials in real.waits.values():
            truth = pool(trials).percentile(fraction)

            def holds(
                race: Blocks, trials: list[RequestLatencies] = trials, truth: float = truth
            ) -> Holds:
                (found,) = percentile_intervals([trials[at] for at in race], [fraction], reach)
                if not isinstance(found, OpenInterval):
                    return within(truth, found.at_least, None)
                return within(truth, found.low or 0.0, found.high)

            yield IntervalCheck(np.array([trial.percentile(fraction) for trial in trials]), holds)

    return checks


def slowest(real: RealBlocks, reach: Reach) -> Iterator[IntervalCheck]:
    """One-sided: the slowest request of as many other trials must reach the low end."""
    for trials in real.waits.values():

        def holds(race: Blocks, again: Blocks, trials: list[RequestLatencies] = trials) -> bool:
            (found,) = percentile_intervals([trials[block] for block in race], [1.0], reach)
            assert isinstance(found, OpenInterval)
            return (found.low or 0.0) <= max(float(trials[block].known[-1]) for block in again)

        yield IntervalCheck(np.array([float(trial.known[-1]) for trial in trials]), holds, races=2)


def log_ratios(real: RealBlocks) -> list[Floats]:
    """Noise common to a block cancels in ratios, so ratios determine the correlation."""
    return [np.log(other / of_one) for of_one, other in combinations(real.costs.values(), 2)]


def ratios(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """Leads and twins: the mean logarithm of the ratios of pairs."""
    for values in log_ratios(real):

        def holds(race: Blocks, values: Floats = values) -> Holds:
            found = PairedMean(values[race]).interval()
            return within(float(values.mean()), found.low, found.high)

        yield IntervalCheck(values, holds)


def change(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """`compare`: the same contender in two races without a change between them."""
    for values in real.costs.values():

        def holds(old: Blocks, new: Blocks, values: Floats = values) -> Holds:
            found = unpaired(values[old], values[new])
            assert found is not None
            return within(1.0, *found.interval())

        yield IntervalCheck(values, holds, races=2)


def numbered(values: Floats) -> dict[int, float]:
    return {block: float(value) for block, value in enumerate(values)}


def joined(races: tuple[Blocks, ...]) -> tuple[Blocks, Units]:
    """The blocks and units of one race; several drawn races are its sittings."""
    blocks = np.concatenate(races)
    if len(races) == 1:
        return blocks, BLOCKS
    belongs = np.repeat(np.arange(len(races)), [len(race) for race in races])
    return blocks, Units(dict(enumerate(belongs.tolist())))


def against_the_best(sittings: int = 1) -> Checks:
    """A whole column: each contender against the best of the others."""

    def checks(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
        logs = {name: np.log(values) for name, values in real.costs.items()}
        truth = {name: float(values.mean()) for name, values in logs.items()}
        behind = {
            name: mine - min(loss for other, loss in truth.items() if other != name)
            for name, mine in truth.items()
        }

        def holds(*races: Blocks) -> Holds:
            blocks, units = joined(races)
            drawn = {name: numbered(values[blocks]) for name, values in logs.items()}
            (found,) = standings([[drawn]], units=units)
            return together(
                within(behind[name], of_one.low, of_one.high) for name, of_one in found.items()
            )

        for values in log_ratios(real):
            yield IntervalCheck(values, holds, races=sittings)

    return checks


def level_by_sittings(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    for values in real.costs.values():

        def holds(*races: Blocks, values: Floats = values) -> Holds:
            blocks, units = joined(races)
            reach = units.reach_of(range(len(blocks)))(values[blocks])
            off = abs(float(values[blocks].mean()) - float(values.mean()))
            return reach is not None and off <= reach

        yield IntervalCheck(values, holds, races=SITTINGS)


def beyond_a_baseline(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """CPU time beyond that of the first contender, for all others at once."""
    base = next(iter(real.costs))
    beyond = {name: values - real.costs[base] for name, values in real.costs.items()}

    def holds(race: Blocks) -> Holds:
        drawn = {name: numbered(values[race]) for name, values in real.costs.items()}
        return together(
            within(float(beyond[of_one.contender].mean()), of_one.low, of_one.high)
            for of_one in differences({0: drawn}, base)
        )

    for name in beyond.keys() - {base}:
        yield IntervalCheck(beyond[name], holds)


FEW, FAMILIES, LEVELS, IN_SITTINGS = (5, 10, 20), (6, 10, 20), (5, 6, 8, 10, 20, 40), (2, 6)

KINDS: Mapping[str, Kind] = {
    "ratio of two": Kind(ratios, FEW, most=0.97),
    "a column against its best": Kind(against_the_best(), FAMILIES),
    "all beyond a baseline": Kind(beyond_a_baseline, FAMILIES),
    "level of server CPU": Kind(levels, LEVELS),
    "p50": Kind(percentiles(0.5), LEVELS),
    "p99": Kind(percentiles(0.99), LEVELS),
    "slowest of as many again": Kind(slowest, FEW),
    "change between races": Kind(change, FEW),
    "5 sittings: a column": Kind(against_the_best(SITTINGS), IN_SITTINGS),
    "5 sittings: a level": Kind(level_by_sittings, IN_SITTINGS),
}
