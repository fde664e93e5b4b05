"""How often each kind of interval in a report contains the truth, in races drawn from real blocks.

Forty consecutive blocks of a real race provide the figures. Shorter races with the same correlation
of neighbours are drawn from them (draw.py), with intervals computed as in a report. Intervals of
levels may cover more than 97 %: they are conservative because few blocks cannot show the
correlation (autocorrelation.py).
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from regatta.checks.calibrate.goals import interval
from regatta.judge.interval import Interval
from regatta.judge.statistics.autocorrelation import reach_of
from regatta.judge.statistics.percentiles import RequestLatencies
from regatta.record.metrics import PRIMARY
from tests.lab.interval_coverage.draw import Chain, Floats
from tests.lab.interval_coverage.kinds import KINDS, Kind, Reach, RealBlocks

BLOCKS = Path(__file__).parents[1] / "fixtures" / "blocks.json"
DRAWS = 120
SEED = 1927
LEAST = 0.93
ONLY_LONG = ("a column against its best",)


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


def covered(kind: Kind, real: RealBlocks, reach: Reach = reach_of) -> dict[int, Interval]:
    """By the number of blocks of the drawn races: the share of intervals that contain the truth,
    and its exact 95 % interval."""
    checks = list(kind.checks(real, reach))
    chains = Chain.all_of([check.figures for check in checks])
    found: dict[int, Interval] = {}
    for number, blocks in enumerate(kind.blocks):
        chance = np.random.default_rng([SEED, number])
        held = [
            check.holds(*(chain.race(chance, blocks) for _ in range(check.races)))
            for check, chain in zip(checks, chains, strict=True)
            for _ in range(-(-DRAWS // len(checks)))
        ]
        found[blocks] = Interval(sum(held) / len(held), *interval(sum(held), len(held)))
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long if name in ONLY_LONG else ()) for name in KINDS],
)
def test_intervals_contain_the_truth_as_often_as_they_say(name: str, real: RealBlocks) -> None:
    kind = KINDS[name]
    found = covered(kind, real)
    assert len(found) == len(kind.blocks)
    missed = {at: of for at, of in found.items() if of.high < LEAST or of.low > kind.most}
    assert missed == {}


def test_intervals_that_ignore_correlation_miss_the_goal(real: RealBlocks) -> None:
    def independent(values: Floats) -> float:
        """Student's t, as if blocks were independent."""
        return float(stats.t.isf(0.025, len(values) - 1) * stats.sem(values))

    found = covered(KINDS["level of server CPU"], real, independent).values()
    assert all(coverage.high < LEAST for coverage in found)
    assert max(coverage.value for coverage in found) < 0.8
