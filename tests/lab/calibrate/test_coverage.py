"""Coverage of intervals against real blocks, and a lab that must be able to fail."""

import json
from pathlib import Path

import numpy as np
import pytest

from regatta.analysis.statistics.waits import Waits
from regatta.calibrate.coverage.checks import IntervalCheck, Kind, together, within
from regatta.calibrate.coverage.draw import Chain, correlation, scores, stretches
from regatta.calibrate.coverage.intervals import KINDS
from regatta.calibrate.coverage.part import INDEPENDENT, goals
from regatta.calibrate.coverage.real import Real
from regatta.ledger.given.calibration import Goal
from regatta.ledger.metrics import PRIMARY

BLOCKS = Path(__file__).parents[1] / "fixtures" / "blocks.json"
DRAWS = 120


@pytest.fixture(scope="module")
def real() -> Real:
    """Forty real blocks in a row: their CPU times, and latencies that were made of them."""
    figures = {
        name: np.array(own) for name, own in json.loads(BLOCKS.read_text())[PRIMARY.name].items()
    }
    generator = np.random.default_rng(5)
    waits = {
        name: [
            Waits(
                np.sort((1e3 * block * generator.lognormal(0, 0.3, 300)).astype(np.int64)),
                np.empty(0, np.int64),
            )
            for block in own
        ]
        for name, own in list(figures.items())[:2]
    }
    return Real({PRIMARY.name: figures}, waits, {})


def named(*names: str) -> list[Kind]:
    return [kind for kind in KINDS if kind.name in names]


def of(real: Real, *names: str, inject: str | None = None) -> list[Goal]:
    return goals(real, DRAWS, inject, named(*names))


def test_intervals_of_levels_hold_what_is_true_of_real_blocks(real: Real) -> None:
    found = of(real, "level of server CPU", "all beyond a baseline", "p50")
    assert [goal.measured for goal in found if goal.met is False] == []
    level = next(goal for goal in found if goal.name.startswith("level"))
    assert "neighbours correlate by 0.6" in level.detail
    assert "in stretches of real blocks" in level.detail


def test_intervals_that_ignore_that_blocks_are_alike_miss_the_goal(real: Real) -> None:
    found = of(real, "level of server CPU", inject=INDEPENDENT)
    assert {goal.met for goal in found} == {False}
    assert all((goal.value or 0) < 80 for goal in found)
    (median, *_) = of(real, "p50", inject=INDEPENDENT)
    assert median.met is False


def test_ratios_and_changes_between_races_hold_it_too(real: Real) -> None:
    for goal in of(real, "ratio of two", "change between races"):
        assert goal.met is not False, goal.name


def test_what_a_table_says_at_once_holds_at_once_by_blocks_and_by_sittings(real: Real) -> None:
    families = ("a column against its best", "all claims on server CPU", "all claims on p50")
    found = of(real, *families, "5 sittings: a column", "5 sittings: a level")
    assert len(found) == 13
    assert [goal.measured for goal in found if goal.met is False] == []


def test_an_interval_without_an_end_is_counted_and_proves_nothing(real: Real) -> None:
    assert within(2.0, 1.0, 3.0) is True
    assert within(2.0, None, 3.0) is within(2.0, 1.0, float("inf")) is None
    assert within(2.0, None, 1.0) is within(2.0, 3.0, None) is False
    assert together([True, None]) is None
    assert together([None, False, True]) is False

    def asked(real: Real, _: object) -> list[IntervalCheck]:
        figures = next(iter(real.figures[PRIMARY.name].values()))
        return [IntervalCheck(figures, lambda _race: within(0.0, None, None))]

    (goal,) = goals(real, 200, None, [Kind("any", "nowhere", asked, (6,))])
    assert goal.outcome == "not refuted"
    assert "100.0% lack an end" in goal.measured


def test_what_no_real_block_shows_is_not_measured(real: Real) -> None:
    (goal, *_) = of(real, "level of throughput")
    assert goal.met is None
    assert goal.measured == "no real block shows it"


def test_a_drawn_race_has_neighbours_as_alike_as_the_real_one_and_every_block_as_often() -> None:
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


def test_a_correlation_is_found_that_short_series_hide() -> None:
    generator = np.random.default_rng(5)
    for truth in (0.0, 0.3, 0.6):
        series = []
        for _ in range(200):
            values = generator.normal(size=20)
            for at in range(1, 20):
                values[at] = truth * values[at - 1] + np.sqrt(1 - truth**2) * values[at]
            series.append(values)
        assert correlation(series) == pytest.approx(truth, abs=0.07)


def test_every_stretch_of_real_blocks_is_taken_once_and_the_last_is_followed_by_the_first() -> None:
    found = [stretch.tolist() for stretch in stretches(4, 3)]
    assert found == [[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]]
