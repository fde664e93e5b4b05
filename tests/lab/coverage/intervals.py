"""The kinds of intervals in a report (`KINDS`): how each is computed from blocks, and its truth.

The truth is the value over all real blocks, since each is drawn equally often.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from regatta.judge.statistics.autocorrelation import Interval
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.percentiles import RequestLatencies, percentile_intervals, pool
from regatta.judge.unpaired import Sample, unpaired
from regatta.record.metrics import FRACTIONS, P50, P99, PRIMARY, THROUGHPUT
from tests.lab.coverage.checks import Floats, Holds, IntervalCheck, Kind, Reach, within
from tests.lab.coverage.draw import Blocks
from tests.lab.coverage.families import (
    SITTINGS,
    against_the_best,
    beyond_a_baseline,
    claims,
    claims_on,
    level_by_sittings,
    log_ratios,
)
from tests.lab.coverage.real_blocks import RealBlocks


def independent(values: Floats) -> float | None:
    """Student's t, as if blocks were independent: the error of `--inject independent`."""
    count = len(values)
    return float(stats.t.isf(0.025, count - 1) * values.std(ddof=1) / math.sqrt(count))


def levels(metric: str) -> Callable[[RealBlocks, Reach], Iterator[IntervalCheck]]:
    def checks(real: RealBlocks, reach: Reach) -> Iterator[IntervalCheck]:
        for figures in real.figures.get(metric, {}).values():
            yield IntervalCheck(figures, lambda race, of=figures: _near(of, race, reach))

    return checks


def held_rate(real: RealBlocks, reach: Reach) -> Iterator[IntervalCheck]:
    """The geometric mean of the rates that are held in the blocks of a search."""
    for figures in real.figures.get(THROUGHPUT.name, {}).values():
        logs = np.log(figures)
        yield IntervalCheck(logs, lambda race, of=logs: _near(of, race, reach))


def _near(figures: Floats, race: Blocks, reach: Reach) -> Holds:
    drawn, found = figures[race], reach(figures[race])
    mean, far = float(drawn.mean()), math.inf if found is None else found
    return within(float(figures.mean()), mean - far, mean + far)


def percentiles(metric: str) -> Callable[[RealBlocks, Reach], Iterator[IntervalCheck]]:
    fraction = FRACTIONS[metric]

    def checks(real: RealBlocks, reach: Reach) -> Iterator[IntervalCheck]:
        for trials in real.waits.values():
            truth = pool(trials).percentile(fraction)

            def holds(
                race: Blocks, trials: list[RequestLatencies] = trials, truth: float = truth
            ) -> Holds:
                values = [trials[block] for block in race]
                (found,) = percentile_intervals(values, [fraction], reach)
                if not isinstance(found, Interval):
                    return within(truth, found.at_least, None)
                return within(truth, found.low or 0.0, found.high)

            yield IntervalCheck(np.array([trial.percentile(fraction) for trial in trials]), holds)

    return checks


def slowest(real: RealBlocks, reach: Reach) -> Iterator[IntervalCheck]:
    """One-sided: the slowest request of as many other trials must reach the low end."""
    for trials in real.waits.values():

        def holds(race: Blocks, again: Blocks, trials: list[RequestLatencies] = trials) -> bool:
            (found,) = percentile_intervals([trials[block] for block in race], [1.0], reach)
            assert isinstance(found, Interval)
            return (found.low or 0.0) <= max(float(trials[block].known[-1]) for block in again)

        yield IntervalCheck(np.array([float(trial.known[-1]) for trial in trials]), holds, races=2)


def ratios(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """Leads and twins: the mean logarithm of the ratios of pairs."""
    for values in log_ratios(real.figures[PRIMARY.name]):
        yield IntervalCheck(values, lambda race, of=values: _in_pairs(of, race))


def _in_pairs(values: Floats, race: Blocks) -> Holds:
    low, high = PairedMean(values[race]).interval() or (None, None)
    return within(float(values.mean()), low, high)


def change(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """`compare`: the same contender in two races without a change between them."""
    for values in real.figures[PRIMARY.name].values():

        def holds(old: Blocks, new: Blocks, values: Floats = values) -> Holds:
            found = unpaired(Sample(values[old]), Sample(values[new]))
            assert found is not None
            return within(1.0, *found.interval())

        yield IntervalCheck(values, holds, races=2)


BLOCKS = (5, 10, 20)
FAMILIES = (6, 10, 20)
LEVELS = (5, 6, 8, 10, 20, 40)
SEARCHES = (4,)
IN_SITTINGS = (2, 6)
MOST = 0.97
SLOW = 5

KINDS = (
    Kind("ratio of two", "leads, twins", ratios, BLOCKS, MOST),
    Kind("a column against its best", "standings, advice", against_the_best(), FAMILIES),
    Kind("all claims on server CPU", "claims", claims, FAMILIES),
    Kind("all claims on p50", "claims", claims_on(P50.name), FAMILIES, every=SLOW),
    Kind("all claims on p99", "claims", claims_on(P99.name), FAMILIES, every=SLOW),
    Kind("all beyond a baseline", "the baseline's table", beyond_a_baseline, FAMILIES),
    Kind("level of server CPU", "standings, charts", levels(PRIMARY.name), LEVELS),
    Kind("level of throughput", "standings, charts", levels(THROUGHPUT.name), LEVELS),
    Kind("p50", "standings, charts, knee", percentiles(P50.name), LEVELS),
    Kind("p99", "standings, charts, knee", percentiles(P99.name), LEVELS),
    Kind("slowest of as many again", "standings", slowest, BLOCKS),
    Kind("rate that is held", "matched loads", held_rate, SEARCHES),
    Kind("change between races", "compare", change, BLOCKS),
    Kind("5 sittings: a column", "standings", against_the_best(SITTINGS), IN_SITTINGS),
    Kind("5 sittings: a level", "standings, charts", level_by_sittings, IN_SITTINGS),
)
