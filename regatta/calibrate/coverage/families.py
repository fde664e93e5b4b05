"""Intervals that are made for a whole table at once, by the functions that its report calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from regatta.analysis.baseline import differences
from regatta.analysis.claims.claim_tests import Test, compare_two
from regatta.analysis.claims.comparisons import LESS, Comparison
from regatta.analysis.claims.decide import ComparisonTest as Claimed
from regatta.analysis.claims.decide import jointly
from regatta.analysis.statistics.best import standings
from regatta.analysis.statistics.slower import slower
from regatta.analysis.statistics.units import BLOCKS, Units
from regatta.analysis.statistics.waits import Waits, pool
from regatta.calibrate.coverage.asked import Asked, Floats, Holds, Reach, together, within
from regatta.calibrate.coverage.draw import Blocks
from regatta.calibrate.coverage.real import Real
from regatta.ledger.metrics import FRACTIONS, PRIMARY

SITTINGS = 5
Way = Callable[[Real, Reach], Iterator[Asked]]


def logs_apart(figures: Mapping[str, Floats]) -> list[Floats]:
    return [np.log(other / one) for one, other in combinations(figures.values(), 2)]


def numbered(values: Floats) -> dict[int, float]:
    return {block: float(value) for block, value in enumerate(values)}


def beside_the_best(sittings: int = 1) -> Way:
    """A whole column at once: each contender against the best of the others."""

    def asked(real: Real, _: Reach) -> Iterator[Asked]:
        logs = {name: np.log(own) for name, own in real.figures[PRIMARY.name].items()}
        truth = {name: float(own.mean()) for name, own in logs.items()}

        def holds(*races: Blocks) -> Holds:
            blocks, units = joined(races)
            drawn = {name: numbered(own[blocks]) for name, own in logs.items()}
            (found,) = standings([[drawn]], units=units)
            return together(
                within(_behind(truth, name), one.low, one.high) for name, one in found.items()
            )

        # What a block does to all cancels in ratios; neighbours correlate as ratios do.
        for values in logs_apart(real.figures[PRIMARY.name]):
            yield Asked(values, holds, races=sittings)

    return asked


def _behind(truth: Mapping[str, float], name: str) -> float:
    return truth[name] - min(loss for other, loss in truth.items() if other != name)


def level_by_sittings(real: Real, _: Reach) -> Iterator[Asked]:
    for own in real.figures.get(PRIMARY.name, {}).values():

        def holds(*races: Blocks, own: Floats = own) -> Holds:
            blocks, units = joined(races)
            drawn, truth = own[blocks], float(own.mean())
            reach = units.reach_of(range(len(blocks)))(drawn)
            return reach is not None and abs(float(drawn.mean()) - truth) <= reach

        yield Asked(own, holds, races=SITTINGS)


def joined(races: tuple[Blocks, ...]) -> tuple[Blocks, Units]:
    """Several are sittings of one race; one alone has none."""
    blocks = np.concatenate(races)
    if len(races) == 1:
        return blocks, BLOCKS
    belongs = np.repeat(np.arange(len(races)), [len(race) for race in races])
    return blocks, Units(dict(enumerate(belongs.tolist())))


def beyond_a_baseline(real: Real, _: Reach) -> Iterator[Asked]:
    """CPU time beyond the first's, of all others at once."""
    figures = real.figures[PRIMARY.name]
    base = next(iter(figures))
    truth = {name: float((own - figures[base]).mean()) for name, own in figures.items()}

    def holds(race: Blocks) -> Holds:
        drawn = {name: numbered(own[race]) for name, own in figures.items()}
        found = differences({0: drawn}, base)
        return together(within(truth[one.contender], one.low, one.high) for one in found)

    for name, own in figures.items():
        if name != base:
            yield Asked(own - figures[base], holds)


def claims(real: Real, _: Reach) -> Iterator[Asked]:
    """Claims that each contender needs less than the next, all pairs at once."""
    pairs = list(combinations(real.figures[PRIMARY.name].values(), 2))
    truths = [float(np.exp(np.log(other / one).mean())) for one, other in pairs]

    def holds(race: Blocks) -> Holds:
        tests = [
            compare_two(numbered(one[race]), numbered(other[race]), differences=False, times=False)
            for one, other in pairs
        ]
        return _as_claimed(tests, truths)

    for values in logs_apart(real.figures[PRIMARY.name]):
        yield Asked(values, holds)


def claims_on(metric: str) -> Way:
    """The same of a percentile of all their requests."""
    fraction = FRACTIONS[metric]

    def asked(real: Real, _: Reach) -> Iterator[Asked]:
        pairs = list(combinations(real.waits.values(), 2))
        truths = [
            pool(other).percentile(fraction) / pool(one).percentile(fraction)
            for one, other in pairs
        ]

        def holds(race: Blocks) -> Holds:
            tests = [
                slower(_drawn(one, race), _drawn(other, race), fraction) for one, other in pairs
            ]
            return _as_claimed(tests, truths)

        for one, other in pairs:
            apart = [
                trial.percentile(fraction) / before.percentile(fraction)
                for before, trial in zip(one, other, strict=True)
            ]
            yield Asked(np.array(apart), holds)

    return asked


def _drawn(trials: list[Waits], race: Blocks) -> dict[int, Waits]:
    return {number: trials[block] for number, block in enumerate(race)}


def _as_claimed(tests: Sequence[Test | str], truths: Sequence[float]) -> Holds:
    """Without an interval where nothing can be compared."""
    asked = [
        Claimed(Comparison(f"{number}", LESS, ()), test, (1.0, None), BLOCKS)
        for number, test in enumerate(tests)
        if not isinstance(test, str)
    ]
    if len(asked) < len(tests):
        return None
    parts = jointly(asked)
    return together(
        within(truth, part.low, part.high) for truth, part in zip(truths, parts, strict=True)
    )
