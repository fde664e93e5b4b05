"""The power stated before a race equals that of its tables."""

import math
from statistics import median

import numpy as np
import pytest

from regatta.judge.power import RATIO_SD, shapes, smallest_lead, standings_power_note
from regatta.judge.standings import verdicts
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.study import Study
from tests.lab import fake_races
from tests.lab.synthetic import Entry

STUDY = """
name = "foretold"
[race]
blocks = 8
counted_blocks = 2
[[cells]]
designs = ["iterative", "select", "thread-per-client"]
connections = [1, 10]
[[cells]]
designs = ["iterative", "select"]
connections = 3
scope = "process"
load = "burst"
rounds = 1
"""
DRAWN = 30


def study(**asked: int) -> Study:
    text = STUDY
    for name, value in asked.items():
        lines = [line for line in text.splitlines() if not line.startswith(f"{name} =")]
        text = "\n".join(lines).replace("[race]", f"[race]\n{name} = {value}")
    return fake_races.parse(text)


def test_each_table_has_its_contenders_steps_and_blocks() -> None:
    assert shapes(study()) == [((3, 3), 8), ((2,), 10)]
    assert shapes(study(sittings=5)) == [((3, 3), 5), ((2,), 5)]


def test_a_matched_load_has_a_step_for_each_share_before_any_rate_is_known() -> None:
    text = """
name = "matched"
[race]
blocks = 8
[[cells]]
designs = ["select", "thread-per-client"]
connections = 16
load = "matched"
shares = [0.25, 0.5, 0.75]
duration_s = 0.5
dialect = "http"
"""
    assert shapes(fake_races.parse(text)) == [((2, 2, 2), 8)]


@pytest.mark.parametrize(("count", "in_sittings"), [(6, False), (10, False), (5, True)])
def test_predicted_power_equals_the_tables(count: int, in_sittings: bool) -> None:
    chance = np.random.default_rng(3)
    units = Units({number: number for number in range(count)}) if in_sittings else BLOCKS
    seen_leads = []
    for _ in range(DRAWN):
        noise = chance.normal(0.0, RATIO_SD / math.sqrt(2), (2, 3, count))
        entries = {
            step: {
                name: Entry(dict(enumerate(np.exp(noise[step, at]))))
                for at, name in enumerate("abc")
            }
            for step in range(2)
        }
        seen_leads += [verdict.detectable for verdict in verdicts(entries, units)[0]]
    seen = median(math.inf if verdict is None else verdict for verdict in seen_leads) - 1
    assert smallest_lead((3, 3), count, in_sittings) == pytest.approx(seen, rel=0.25)


def test_power_falls_with_contenders_and_rises_with_blocks() -> None:
    few, many = smallest_lead((3,), 6, False), smallest_lead((17,) * 4, 6, False)
    assert many > 1.5 * few
    assert smallest_lead((17,) * 4, 12, False) < many / 2


def test_a_race_states_its_power_before_it_starts() -> None:
    said = standings_power_note(study(blocks=6))
    assert said.startswith("6 blocks, and 3 contenders at 2 steps in one table: leads below ")
    assert said.endswith(" would take 7 blocks")
    assert "if a block's ratio varies by 5 %" in said
    assert "would take" not in standings_power_note(study(blocks=20))
    sittings = standings_power_note(study(sittings=5))
    assert sittings.startswith("5 sittings, and 3 contenders at 2 steps")
    assert "if a sitting's ratio varies by 5 %; 10 % would take 7 sittings" in sittings


@pytest.mark.parametrize("asked", [{"blocks": 3, "counted_blocks": 1}, {"sittings": 2}])
def test_without_decidable_tables_there_is_no_power_note(asked: dict[str, int]) -> None:
    assert standings_power_note(study(**asked)) == ""
