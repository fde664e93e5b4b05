"""Power curves: the actual effect, and the share of races that detect it."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from regatta.checks.calibrate.power import part as power
from regatta.checks.calibrate.power.curve import Curve, fit, point_rows, table, write_picture
from regatta.checks.calibrate.power.part import (
    OVER_ALL,
    PLAIN,
    RaceEffects,
    curves,
    judge,
    name_of,
    readings_of,
    slowed_study,
)
from regatta.checks.calibrate.shape import Shape, shape_of
from regatta.errors import UsageError
from regatta.record.study import parse_study
from tests.lab import simulated_races
from tests.lab.checks.test_equals import context

SHAPE = Shape("quick", {}, {"work": "classic"}, 2)
PLAIN_US = 600.0
SPINS_US = (3, 12, 18, 30, 60)
DEARER = 1.4
"""The effect of a spin of 1 µs in the synthetic races, more than its length."""
RACES = 8


@cache
def readings() -> tuple[dict[int, RaceEffects], ...]:
    cpu_us = {PLAIN: PLAIN_US} | {name_of(spin): PLAIN_US + DEARER * spin for spin in SPINS_US}
    return tuple(readings_of(simulated_races.of(cpu_us, 100 + number)) for number in range(RACES))


@cache
def found() -> dict[str, Curve]:
    return {curve.step: curve for curve in curves(readings())}


def test_the_effect_is_measured_and_not_the_target_of_the_spin() -> None:
    over_all = found()[OVER_ALL]
    truth = 100 * DEARER * np.array(SPINS_US) / PLAIN_US
    assert np.all(np.abs(over_all.observed - truth) < 3 * np.maximum(over_all.unsure, 0.2))
    assert over_all.observed[-1] > 12  # a spin of 10 %


def test_each_step_has_a_curve_and_the_one_over_all_has_more_power() -> None:
    assert list(found()) == [OVER_ALL, "at 1", "at 10"]
    for place in ("at 1", "at 10"):
        assert 2.5 < found()[place].seen < 6.5
        assert found()[OVER_ALL].seen < found()[place].seen


def test_the_interval_covers_the_detected_effect() -> None:
    for curve in found().values():
        low, high = curve.interval
        assert low <= curve.seen <= high
        assert high - low < 4


@pytest.mark.parametrize(("middle", "width"), [(2.0, 0.5), (5.0, 2.0)])
def test_the_fit_recovers_a_known_curve(middle: float, width: float) -> None:
    effects = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0])
    truth = Curve("", np.tile(effects, (2, 1)), np.zeros((2, 7), bool))
    truth.__dict__["fitted"] = (middle, width)
    chance = np.random.default_rng(7)
    hits = chance.binomial(2_000, truth.share(effects))
    assert fit(effects, hits, 2_000) == pytest.approx((middle, width), rel=0.1)


def test_too_little_power_misses_the_goal_and_few_races_prove_nothing() -> None:
    cpu_us = {PLAIN: PLAIN_US} | {name_of(spin): PLAIN_US + spin for spin in SPINS_US}
    noisy = [readings_of(simulated_races.of(cpu_us, number, within=0.15)) for number in range(5)]
    over_all = curves(noisy)[0]
    goal = judge(SHAPE, over_all, 5.0, [over_all])
    assert goal.met is False
    few = judge(SHAPE, curves(readings()[:3])[0], 5.0, [])
    assert few.met is None
    assert few.outcome == "not refuted"
    good = judge(SHAPE, found()[OVER_ALL], 5.0, [found()[OVER_ALL]])
    assert good.met is True
    assert f"of {RACES}" in good.detail


def test_the_picture_and_the_table_show_each_point_with_its_interval(tmp_path: Path) -> None:
    shown = list(found().values())
    path = write_picture(tmp_path, SHAPE, shown)
    assert path.read_text().startswith("<svg")
    assert "races that find it" in path.read_text()
    rows = point_rows(shown)
    assert len(rows) == 3 * len(SPINS_US)
    assert all(row["low"] <= row["found"] <= row["high"] for row in rows)
    text = table(SHAPE, shown)
    assert text.count("| over all steps |") == len(SPINS_US) + 1
    assert path.with_suffix(".md").read_text() == text


def test_slowed_servers_race_in_the_shape_of_the_study(tmp_path: Path) -> None:
    here = context(tmp_path)
    shape = shape_of(here)
    study = slowed_study(here, shape, [3, 30], 1)
    works = {
        name: one.command[one.command.index("--work") + 1] for name, one in study.contenders.items()
    }
    assert works == {
        "plain": "classic",
        "spin-3us": "classic+spin=3us",
        "spin-30us": "classic+spin=30us",
    }
    assert {cell.work for cell in study.cells} == {"classic"}  # one group: they are compared
    again = parse_study(study.toml, here.programs.designs, tmp_path)
    assert again.blocks == study.blocks
    with pytest.raises(UsageError, match="cannot be slowed"):
        slowed_study(here, Shape("w", {}, {"work": "wait=5ms"}, 1), [3], 1)


def test_spins_follow_from_the_cpu_per_request_of_a_pilot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot = simulated_races.of({PLAIN: PLAIN_US} | {name_of(spin): PLAIN_US for spin in (1, 2)}, 1)
    monkeypatch.setattr(power, "read", lambda _path: pilot)
    here = context(tmp_path, race=lambda _study, place: place)
    spins = power.spins_us(here, shape_of(here))
    assert len(spins) == 7
    assert 2 <= spins[0] <= 4
    assert 52 <= spins[-1] <= 68
