"""Simultaneous intervals of whole tables, computed by the same functions as in a report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from regatta.judge.claims.claim_tests import ComparisonTest, Test, compare_two
from regatta.judge.claims.comparisons import LESS, Comparison
from regatta.judge.claims.judge import jointly
from regatta.judge.overheads import differences
from regatta.judge.statistics.comparisons_with_best import standings
from regatta.judge.statistics.percentile_comparison import compare_percentiles
from regatta.judge.statistics.percentiles import RequestLatencies, pool
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.metrics import FRACTIONS, PRIMARY
from tests.lab.coverage.checks import Floats, Holds, IntervalCheck, Reach, together, within
from tests.lab.coverage.draw import Blocks
from tests.lab.coverage.real_blocks import RealBlocks

SITTINGS = 5
Checks = Callable[[RealBlocks, Reach], Iterator[IntervalCheck]]


def log_ratios(figures: Mapping[str, Floats]) -> list[Floats]:
    return [np.log(other / one) for one, other in combinations(figures.values(), 2)]


def numbered(values: Floats) -> dict[int, float]:
    return {block: float(value) for block, value in enumerate(values)}


def against_the_best(sittings: int = 1) -> Checks:
    """A whole column: each contender against the best of the others."""

    def checks(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
        logs = {name: np.log(values) for name, values in real.figures[PRIMARY.name].items()}
        truth = {name: float(values.mean()) for name, values in logs.items()}
        behind = {
            name: mine - min(loss for other, loss in truth.items() if other != name)
            for name, mine in truth.items()
        }

        def holds(*races: Blocks) -> Holds:
            blocks, units = joined(races)
            drawn = {name: numbered(values[blocks]) for name, values in logs.items()}
            (found,) = standings([[drawn]], units=units)
            return together(within(behind[name], one.low, one.high) for name, one in found.items())

        # Noise common to a block cancels in ratios, so ratios determine the correlation.
        for values in log_ratios(real.figures[PRIMARY.name]):
            yield IntervalCheck(values, holds, races=sittings)

    return checks


def level_by_sittings(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    for values in real.figures.get(PRIMARY.name, {}).values():

        def holds(*races: Blocks, values: Floats = values) -> Holds:
            blocks, units = joined(races)
            drawn, truth = values[blocks], float(values.mean())
            reach = units.reach_of(range(len(blocks)))(drawn)
            return reach is not None and abs(float(drawn.mean()) - truth) <= reach

        yield IntervalCheck(values, holds, races=SITTINGS)


def joined(races: tuple[Blocks, ...]) -> tuple[Blocks, Units]:
    """The blocks and units of one race; several drawn races are its sittings."""
    blocks = np.concatenate(races)
    if len(races) == 1:
        return blocks, BLOCKS
    belongs = np.repeat(np.arange(len(races)), [len(race) for race in races])
    return blocks, Units(dict(enumerate(belongs.tolist())))


def beyond_a_baseline(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """CPU time beyond that of the first contender, for all others at once."""
    figures = real.figures[PRIMARY.name]
    base = next(iter(figures))
    truth = {name: float((values - figures[base]).mean()) for name, values in figures.items()}

    def holds(race: Blocks) -> Holds:
        drawn = {name: numbered(values[race]) for name, values in figures.items()}
        found = differences({0: drawn}, base)
        return together(within(truth[one.contender], one.low, one.high) for one in found)

    for name, values in figures.items():
        if name != base:
            yield IntervalCheck(values - figures[base], holds)


def claims(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
    """Claims that one contender needs less than another, for all pairs at once."""
    pairs = list(combinations(real.figures[PRIMARY.name].values(), 2))
    truths = [float(np.exp(np.log(other / one).mean())) for one, other in pairs]

    def holds(race: Blocks) -> Holds:
        tests = [
            compare_two(numbered(one[race]), numbered(other[race]), differences=False, times=False)
            for one, other in pairs
        ]
        return _as_claimed(tests, truths)

    for values in log_ratios(real.figures[PRIMARY.name]):
        yield IntervalCheck(values, holds)


def claims_on(metric: str) -> Checks:
    """The same for a percentile of all requests."""
    fraction = FRACTIONS[metric]

    def checks(real: RealBlocks, _: Reach) -> Iterator[IntervalCheck]:
        pairs = list(combinations(real.waits.values(), 2))
        truths = [
            pool(other).percentile(fraction) / pool(one).percentile(fraction)
            for one, other in pairs
        ]

        def holds(race: Blocks) -> Holds:
            tests = [
                compare_percentiles(_drawn(one, race), _drawn(other, race), fraction)
                for one, other in pairs
            ]
            return _as_claimed(tests, truths)

        for one, other in pairs:
            ratios = [
                trial.percentile(fraction) / before.percentile(fraction)
                for before, trial in zip(one, other, strict=True)
            ]
            yield IntervalCheck(np.array(ratios), holds)

    return checks


def _drawn(trials: list[RequestLatencies], race: Blocks) -> dict[int, RequestLatencies]:
    return {number: trials[block] for number, block in enumerate(race)}


def _as_claimed(tests: Sequence[Test | str], truths: Sequence[float]) -> Holds:
    """Whether the intervals of all claims hold; None if a pair cannot be compared."""
    ready = [
        ComparisonTest(Comparison(f"{number}", LESS, ()), test, (1.0, None), BLOCKS)
        for number, test in enumerate(tests)
        if not isinstance(test, str)
    ]
    if len(ready) < len(tests):
        return None
    parts = jointly(ready)
    return together(
        within(truth, part.low, part.high) for truth, part in zip(truths, parts, strict=True)
    )
