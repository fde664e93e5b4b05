"""Coverage of intervals on real blocks, including intervals that must miss the goal."""

import json
from pathlib import Path

import numpy as np
import pytest

from regatta.judge.statistics.percentiles import RequestLatencies
from regatta.record.inputs import Goal
from regatta.record.metrics import PRIMARY
from tests.lab.coverage.checks import IntervalCheck, Kind, together, within
from tests.lab.coverage.draw import Chain, correlation, scores, stretches
from tests.lab.coverage.intervals import KINDS
from tests.lab.coverage.part import INDEPENDENT, goals
from tests.lab.coverage.real_blocks import RealBlocks

BLOCKS = Path(__file__).parents[1] / "fixtures" / "blocks.json"
DRAWS = 120


@pytest.fixture(scope="module")
def real() -> RealBlocks:
    """Forty consecutive real blocks: CPU times, and latencies derived from them."""
    figures = {
        name: np.array(own) for name, own in json.loads(BLOCKS.read_text())[PRIMARY.name].items()
    }
    generator = np.random.default_rng(5)
    waits = {
        name: [
            RequestLatencies(
                np.sort((1e3 * block * generator.lognormal(0, 0.3, 300)).astype(np.int64)),
                np.empty(0, np.int64),
            )
            for block in own
        ]
        for name, own in list(figures.items())[:2]
    }
    return RealBlocks({PRIMARY.name: figures}, waits)


def named(*names: str) -> list[Kind]:
    return [kind for kind in KINDS if kind.name in names]


def of(real: RealBlocks, *names: str, inject: str | None = None) -> list[Goal]:
    return goals(real, DRAWS, inject, named(*names))


def test_intervals_of_levels_cover_the_truth(real: RealBlocks) -> None:
    found = of(real, "level of server CPU", "all beyond a baseline", "p50")
    assert [goal.measured for goal in found if goal.met is False] == []
    level = next(goal for goal in found if goal.name.startswith("level"))
    assert "correlation of neighbours 0.6" in level.detail
    assert "in stretches of real blocks" in level.detail


def test_intervals_that_ignore_correlation_miss_the_goal(real: RealBlocks) -> None:
    found = of(real, "level of server CPU", inject=INDEPENDENT)
    assert {goal.met for goal in found} == {False}
    assert all((goal.value or 0) < 80 for goal in found)
    (median, *_) = of(real, "p50", inject=INDEPENDENT)
    assert median.met is False


def test_intervals_of_ratios_and_changes_cover_the_truth(real: RealBlocks) -> None:
    for goal in of(real, "ratio of two", "change between races"):
        assert goal.met is not False, goal.name


@pytest.mark.long
def test_intervals_of_one_table_hold_together_by_blocks_and_by_sittings(
    real: RealBlocks,
) -> None:
    families = ("a column against its best", "all claims on server CPU", "all claims on p50")
    found = of(real, *families, "5 sittings: a column", "5 sittings: a level")
    assert len(found) == 13
    assert [goal.measured for goal in found if goal.met is False] == []


def test_unbounded_intervals_are_counted_and_prove_nothing(real: RealBlocks) -> None:
    assert within(2.0, 1.0, 3.0) is True
    assert within(2.0, None, 3.0) is within(2.0, 1.0, float("inf")) is None
    assert within(2.0, None, 1.0) is within(2.0, 3.0, None) is False
    assert together([True, None]) is None
    assert together([None, False, True]) is False

    def asked(real: RealBlocks, _: object) -> list[IntervalCheck]:
        figures = next(iter(real.figures[PRIMARY.name].values()))
        return [IntervalCheck(figures, lambda _race: within(0.0, None, None))]

    (goal,) = goals(real, 200, None, [Kind("any", "nowhere", asked, (6,))])
    assert goal.outcome == "not refuted"
    assert "100.0% unbounded" in goal.measured


def test_a_metric_without_data_is_not_measured(real: RealBlocks) -> None:
    (goal, *_) = of(real, "level of throughput")
    assert goal.met is None
    assert goal.measured == "the race has no data for it"


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


def test_the_bias_of_correlation_in_short_series_is_corrected() -> None:
    generator = np.random.default_rng(5)
    for truth in (0.0, 0.3, 0.6):
        series = []
        for _ in range(200):
            values = generator.normal(size=20)
            for at in range(1, 20):
                values[at] = truth * values[at - 1] + np.sqrt(1 - truth**2) * values[at]
            series.append(values)
        assert correlation(series) == pytest.approx(truth, abs=0.07)


def test_stretches_of_real_blocks_wrap_around() -> None:
    found = [stretch.tolist() for stretch in stretches(4, 3)]
    assert found == [[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]]
