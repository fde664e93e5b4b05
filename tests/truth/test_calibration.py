"""The instruments of `regatta calibrate` on real servers, in quick mode.

`regatta calibrate` measures their accuracy on an idle machine. These tests check bounds that hold
on a busy machine too, which can only make waits longer and windows larger.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from regatta.checks.calibrate.goals import CalibrationPart, Context
from regatta.checks.calibrate.instruments import CLOSED, NOT_BELOW, STOPPED, WINDOW
from regatta.measure.programs import discover
from regatta.measure.race.options import Options
from regatta.record.inputs import Goal

Make = Callable[[str | None], Context]
"""Makes a context, given the error to inject, if any."""


def no_race(*_: object) -> Path:
    raise AssertionError("these parts run no race")


@pytest.fixture
def context(tmp_path: Path) -> Make:
    def make(inject: str | None) -> Context:
        return Context(
            programs=discover(),
            folder=tmp_path,
            options=Options(),
            quick=True,
            inject=inject,
            say=lambda _: None,
            race=no_race,
        )

    return make


def run(part: CalibrationPart, context: Context) -> dict[str, Goal]:
    goals = part.run(context)
    assert len({goal.name for goal in goals}) == len(goals)
    return {goal.name: goal for goal in goals}


def test_a_stopped_server_is_seen_in_an_open_load_and_not_in_a_closed_one(context: Make) -> None:
    """No request that waited for the stopped server may be shorter than the stop."""
    for goal in run(STOPPED, context(None)).values():
        if goal.goal == NOT_BELOW:
            assert goal.met, goal
        else:
            assert goal.value > -5, goal
    for goal in run(STOPPED, context(CLOSED)).values():
        if goal.goal != NOT_BELOW:
            assert goal.met is False, goal
            assert goal.value < -30, goal


def test_windows_of_real_loads_contain_their_work(context: Make) -> None:
    found = run(WINDOW, context(None))
    assert len(found) == 6
    for name, goal in found.items():
        if name == "CPU time in the window of fork-per-client" and goal.met is None:
            assert goal.measured.endswith("is in ticks"), goal
            continue
        if name.startswith("counted time"):
            assert goal.value >= 0, goal
        else:  # percentage of all CPU time caused by the load
            assert -50 < goal.value <= 1, goal
