"""What a calibration measures of real servers, in its quick form: close to what is known.

They measure time, and so stand here, where nothing runs beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from regatta.calibrate import counters, stopped, window
from regatta.calibrate.goals import Context, Goal, Part
from regatta.calibrate.stopped import CLOSED
from regatta.programs import discover
from regatta.race import Options


def no_race(*_: object) -> Path:
    raise AssertionError("these parts run no race")


@pytest.fixture
def context(tmp_path: Path) -> Callable[[str | None], Context]:
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


def run(part: Part, context: Context) -> dict[str, Goal]:
    goals = part.run(context)
    assert len({goal.name for goal in goals}) == len(goals)
    return {goal.name: goal for goal in goals}


def test_a_stopped_server_is_seen_in_an_open_load_and_not_in_a_closed_one(
    context: Callable[[str | None], Context],
) -> None:
    """With a fifth of the stop that is asked for, a busy machine shows: 5 % is little there."""
    for goal in run(stopped.PART, context(None)).values():
        assert goal.value is not None
        assert abs(goal.value) < 30, goal
    for goal in run(stopped.PART, context(CLOSED)).values():
        assert goal.met is False, goal
        assert goal.value is not None
        assert goal.value < -30, goal


def test_counters_of_real_servers_are_close_to_the_accounts(
    context: Callable[[str | None], Context],
) -> None:
    """A quick look: on a busy machine a per cent can be missed, ten cannot."""
    for goal in run(counters.PART, context(None)).values():
        if goal.met is None:
            pytest.skip(goal.measured)
        assert goal.value is not None
        assert abs(goal.value) < 10, goal


def test_windows_of_real_loads_hold_their_work(
    context: Callable[[str | None], Context],
) -> None:
    found = run(window.PART, context(None))
    assert len(found) == 6
    for goal in found.values():
        assert goal.value is not None
        assert abs(goal.value) < 10, goal
