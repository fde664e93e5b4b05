"""Power curves: the actual effect, and the share of races that detect it."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from regatta.checks.calibrate import power
from regatta.checks.calibrate.power import (
    OVER_ALL,
    PLAIN,
    Curve,
    curves,
    fit,
    judge,
    name_of,
    readings_of,
    slowed_study,
)
from regatta.checks.calibrate.shape import shape_of
from regatta.record.study import parse_study
from tests.lab import simulated_races
from tests.lab.checks.calibrations import SHAPE, context

PLAIN_US = 600.0
SPINS_US = (3, 12, 18, 30, 60)
DEARER = 1.4
"""The effect of a spin of 1 µs in the synthetic races, more than its length."""
RACES = 8


@cache
def found(races: int = RACES, within: float = simulated_races.WITHIN) -> dict[str, Curve]:
    cpu_us = {PLAIN: PLAIN_US} | {name_of(spin): PLAIN_US + DEARER * spin for spin in SPINS_US}
    readings = [
        readings_of(simulated_races.of(cpu_us, 100 + number, within)) for number in range(races)
    ]
    return {curve.step: curve for curve in curves(readings)}


def test_the_effect_is_measured_and_not_the_target_of_the_spin() -> None:
    effects = found()[OVER_ALL].effects
    truth = 100 * DEARER * np.array(SPINS_US) / PLAIN_US
    unsure = stats.t.ppf(0.975, RACES - 1) * effects.std(axis=0, ddof=1) / np.sqrt(RACES)
    assert np.all(np.abs(effects.mean(axis=0) - truth) < 3 * np.maximum(unsure, 0.2))
    assert effects[:, -1].mean() > 12  # a spin of 10 %


def test_each_step_has_a_curve_and_the_one_over_all_has_more_power() -> None:
    assert list(found()) == [OVER_ALL, "at 1", "at 10"]
    for place in ("at 1", "at 10"):
        assert 2.5 < found()[place].seen < 6.5
        assert found()[OVER_ALL].seen < found()[place].seen
    for curve in found().values():
        low, high = curve.interval
        assert low <= curve.seen <= high < low + 4


@pytest.mark.parametrize(("middle", "width"), [(2.0, 0.5), (5.0, 2.0)])
def test_the_fit_recovers_a_known_curve(middle: float, width: float) -> None:
    effects = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0])
    shares = stats.norm.cdf((effects - middle) / width)
    hits = np.random.default_rng(7).binomial(2_000, shares)
    assert fit(effects, hits, 2_000) == pytest.approx((middle, width), rel=0.1)


def test_too_little_power_misses_the_goal_and_few_races_prove_nothing() -> None:
    noisy, few, good = (
        judge(SHAPE, curve[OVER_ALL], 5.0, [curve[OVER_ALL]])
        for curve in (found(5, within=0.15), found(3), found())
    )
    assert (noisy.met, few.met, good.met) == (False, None, True)
    assert few.outcome == "not refuted"
    assert good.detail.count(f" of {RACES} (") == len(SPINS_US)


def test_slowed_servers_race_in_the_shape_of_the_study(tmp_path: Path) -> None:
    here = context(tmp_path)
    study = slowed_study(here, shape_of(here), [3, 30], 1)
    works = {
        name: contender.command[contender.command.index("--work") + 1]
        for name, contender in study.contenders.items()
    }
    spun = {f"spin-{spin}us": f"classic+spin={spin}us" for spin in (3, 30)}
    assert works == {"plain": "classic", **spun}
    assert {cell.work for cell in study.cells} == {"classic"}  # one group: they are compared
    again = parse_study(study.toml, here.programs.designs, tmp_path)
    assert again.blocks == study.blocks


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
