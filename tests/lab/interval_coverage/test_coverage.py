"""How often each kind of interval in a report contains the truth, in races drawn from real blocks.

Forty consecutive blocks of a real race provide the figures. Shorter races with the same correlation
of neighbours are drawn from them (draw.py), with intervals computed as in a report. Intervals of
levels may cover more than 97 %: they are conservative because few blocks cannot show the
correlation (autocorrelation.py).
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from regatta.checks.calibrate.goals import interval
from regatta.judge.statistics.autocorrelation import reach_of
from regatta.judge.statistics.percentiles import RequestLatencies
from regatta.record.metrics import PRIMARY
from tests.lab.interval_coverage.draw import Chain, Floats, correlation, scores
from tests.lab.interval_coverage.kinds import (
    KINDS,
    IntervalCheck,
    Kind,
    Reach,
    RealBlocks,
    together,
    within,
)

BLOCKS = Path(__file__).parents[1] / "fixtures" / "blocks.json"
DRAWS = 120
SEED = 1927
LEAST = 0.93
ONLY_LONG = (
    "a column against its best",
    "5 sittings: a column",
    "5 sittings: a level",
)


@pytest.fixture(scope="module")
def real() -> RealBlocks:
    """CPU times, and latencies derived from them."""
    costs = {
        name: np.array(values)
        for name, values in json.loads(BLOCKS.read_text())[PRIMARY.name].items()
    }
    generator = np.random.default_rng(5)

    def waits(block: float) -> RequestLatencies:
        drawn = np.sort((1e3 * block * generator.lognormal(0, 0.3, 300)).astype(np.int64))
        return RequestLatencies(drawn, np.empty(0, np.int64))

    return RealBlocks(
        costs,
        {name: [waits(block) for block in values] for name, values in list(costs.items())[:2]},
    )


@dataclass(frozen=True)
class Coverage:
    share: float
    low: float
    """Of the exact 95 % interval of the share."""
    high: float
    endless: float
    """Share of intervals that contain the truth because one end is unbounded."""

    def met(self, most: float) -> bool | None:
        """False if the drawn races exclude the required coverage, True if any other.

        If too many intervals are unbounded, and so contain anything, it stays open.
        """
        if self.high < LEAST or self.low > most:
            return False
        sure = self.low >= LEAST and self.high <= most and self.endless <= 1 - LEAST
        return True if sure else None


def covered(
    kind: Kind, real: RealBlocks, reach: Reach = reach_of, draws: int = DRAWS
) -> dict[int, Coverage]:
    """By the number of blocks of the drawn races."""
    checks = list(kind.checks(real, reach))
    chains = Chain.all_of([check.figures for check in checks])
    found: dict[int, Coverage] = {}
    for number, blocks in enumerate(kind.blocks):
        chance = np.random.default_rng([SEED, number])
        held = [
            check.holds(*(chain.race(chance, blocks) for _ in range(check.races)))
            for check, chain in zip(checks, chains, strict=True)
            for _ in range(-(-draws // (kind.every * len(checks))))
        ]
        right = sum(holds is not False for holds in held)
        ends = interval(right, len(held))
        found[blocks] = Coverage(right / len(held), *ends, held.count(None) / len(held))
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long if name in ONLY_LONG else ()) for name in KINDS],
)
def test_intervals_contain_the_truth_as_often_as_they_say(name: str, real: RealBlocks) -> None:
    kind = KINDS[name]
    found = covered(kind, real)
    assert len(found) == len(kind.blocks)
    assert {blocks: of for blocks, of in found.items() if of.met(kind.most) is False} == {}


@pytest.mark.parametrize("name", ["level of server CPU", "p50"])
def test_intervals_that_ignore_correlation_miss_the_goal(name: str, real: RealBlocks) -> None:
    def independent(values: Floats) -> float:
        """Student's t, as if blocks were independent."""
        count = len(values)
        return float(stats.t.isf(0.025, count - 1) * values.std(ddof=1) / math.sqrt(count))

    found = covered(KINDS[name], real, independent).values()
    assert {coverage.met(1.0) for coverage in found} == {False}
    assert max(coverage.share for coverage in found) < 0.8


def test_unbounded_intervals_are_counted_and_prove_nothing(real: RealBlocks) -> None:
    assert within(2.0, 1.0, 3.0) is True
    assert within(2.0, None, 3.0) is within(2.0, 1.0, float("inf")) is None
    assert within(2.0, None, 1.0) is within(2.0, 3.0, None) is False
    assert together([True, None]) is None
    assert together([None, False, True]) is False
    figures = next(iter(real.costs.values()))
    check = IntervalCheck(figures, lambda _race: within(0.0, None, None))
    (found,) = covered(Kind(lambda *_: iter([check]), (6,)), real, draws=200).values()
    assert (found.share, found.endless, found.met(1.0)) == (1.0, 1.0, None)


def test_a_drawn_race_keeps_the_correlation_and_draws_all_blocks_equally_often() -> None:
    generator = np.random.default_rng(5)
    figures = np.array([1.0])
    while len(figures) < 100:
        figures = np.append(figures, 0.6 * figures[-1] + generator.normal())
    (chain,) = Chain.all_of([figures])
    drawn = chain.race(generator, 40_000)
    assert correlation([scores(figures[drawn])]) == pytest.approx(chain.correlation, abs=0.03)
    often = np.bincount(drawn, minlength=100) / 400
    assert often.mean() == 1
    assert 0.7 < often.min() < often.max() < 1.4


@pytest.mark.parametrize("truth", [0.0, 0.3, 0.6])
def test_the_bias_of_correlation_in_short_series_is_corrected(truth: float) -> None:
    series = np.random.default_rng(5).normal(size=(200, 20))
    for at in range(1, 20):
        series[:, at] = truth * series[:, at - 1] + np.sqrt(1 - truth**2) * series[:, at]
    assert correlation(list(series)) == pytest.approx(truth, abs=0.07)
