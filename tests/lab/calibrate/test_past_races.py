"""Calibration goals judged from finished races: verdicts on claims, and agreement of two races."""

from pathlib import Path
from typing import Any

import pytest

from regatta.calibrate import past_races
from regatta.calibrate.goals import Context
from regatta.ledger.inputs.calibration import Goal
from regatta.ledger.inputs.records import RaceInputs
from regatta.study import parse_study
from regatta.study.claims.published import recorded_claims
from regatta.study.design import Design
from tests.lab import synthetic
from tests.ledgers import change

DESIGNS = [Design(name, "") for name in ("iterative", "thread-per-client", "select")]
CLAIMS = """
name = "reports"
[[cells]]
designs = ["iterative", "thread-per-client", "select"]
connections = 10
[[claim]]
id = "X1"
says = "select needs least."
metric = "task_clock"
side = "server"
connections = 10
order = ["select", "thread-per-client"]
[[claim]]
id = "X2"
says = "They differ in instructions per cycle."
metric = "instructions_per_cycle"
side = "server"
connections = 10
order = ["select", "thread-per-client"]
"""
NOW = 1_760_000_000.0


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = synthetic.environment(synthetic.SyntheticRace())
    monkeypatch.setattr(
        past_races, "machine", lambda: {name: example[name] for name in past_races.SAME_MACHINE}
    )


def race(study: str, at: float, **changes: Any) -> Path:
    folder = Path("races") / f"{study}-{at:.0f}"
    folder.mkdir(parents=True)
    path = synthetic.make(folder / "ledger.sqlite", **changes)
    change(path, "UPDATE meta SET value = ? WHERE key = 'study_name'", study)
    change(path, "UPDATE meta SET value = ? WHERE key = 'created_at'", str(at))
    return path


def context() -> Context:
    return None  # unused by the parts that read races


def only(goals: list[Goal]) -> Goal:
    (goal,) = goals
    return goal


def test_two_races_an_hour_apart_agree() -> None:
    race("quick", NOW, seed=1)
    race("quick", NOW + 1800, seed=2, cpu_us={"iterative": 100.0})
    race("quick", NOW + 3700, seed=3)
    goal = only(past_races.twice(context()))
    assert goal.met is True
    assert goal.measured == "the same winner; 9 of 9 cells overlap"
    assert f"quick-{NOW:.0f}" in goal.detail, "not the one of half an hour ago"


def test_two_races_that_disagree_miss_the_goal() -> None:
    race("quick", NOW)
    race(
        "quick",
        NOW + 3700,
        cpu_us={"iterative": 640.0, "select": 900.0, "thread-per-client": 720.0},
    )
    goal = only(past_races.twice(context()))
    assert goal.met is False
    assert "another winner" in goal.measured


def test_races_of_the_same_hour_another_study_or_machine_are_not_used() -> None:
    race("quick", NOW)
    race("quick", NOW + 3500)
    race("c10k", NOW + 8000)
    elsewhere = race("quick", NOW + 9000)
    change(elsewhere, """UPDATE environment SET value = '"Other"' WHERE key = 'cpu_model'""")
    cut = race("quick", NOW + 10_000)
    cut.write_bytes(cut.read_bytes()[:5000])
    goal = only(past_races.twice(context()))
    assert goal.met is None
    assert "race quick twice" in goal.measured


@pytest.mark.parametrize(
    ("hardware", "met", "words"),
    [(False, True, "2 of 4; X2, X2 need counters"), (True, True, "4 of 4")],
)
def test_only_a_missing_counter_excuses_a_claim_without_a_verdict(
    hardware: bool, met: bool, words: str
) -> None:
    recorded = recorded_claims(parse_study(CLAIMS, DESIGNS))
    how = {"hardware": hardware, "counted_blocks": 6, "inputs": RaceInputs(claims=recorded)}
    race("reports", NOW, **how)
    assert only(past_races.claims(context())).met is None, "the other study was not raced"
    race("chapter-30", NOW, **how)
    goal = only(past_races.claims(context()))
    assert goal.met is met
    assert goal.measured.startswith(words)


def test_a_claim_with_too_few_blocks_misses_the_goal() -> None:
    recorded = recorded_claims(parse_study(CLAIMS, DESIGNS))
    for study in ("reports", "chapter-30"):
        race(study, NOW, hardware=True, counted_blocks=2, inputs=RaceInputs(claims=recorded))
    goal = only(past_races.claims(context()))
    assert goal.met is False
    assert "X2 have too few blocks" in goal.measured
