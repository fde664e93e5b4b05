"""The goals of a calibration as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rich import box
from rich.table import Table
from rich.text import Text

from regatta.calibrate.goals import Calibration, Goal
from regatta.progress import duration

EQUALS = "equals: "
"""How the names of all goals of the true A/A begin."""
PAIRS = f"{EQUALS}standings of pairs"
NOT_RUN = "A/A: not run"
MET = {True: ("met", "green"), False: ("MISSED", "bold red"), None: ("not measured", "yellow")}


def headline(calibration: Calibration) -> str:
    """One sentence: what, when, where."""
    moment = datetime.fromtimestamp(calibration.taken_at, UTC).strftime("%d %B %Y, %H:%M UTC")
    kind = "quick calibration, which proves little," if calibration.quick else "calibration"
    error = f" with an error put in ({calibration.inject})" if calibration.inject else ""
    judged = [goal for goal in calibration.goals if goal.met is not None]
    met = sum(goal.met is True for goal in judged)
    return (
        f"{kind}{error} of {moment}, in {duration(calibration.elapsed_s)}, "
        f"by Regatta {calibration.regatta_version}: {met} of {len(judged)} goals met"
    )


def aa_state(calibration: Calibration) -> str:
    """Whether equal copies were raced, and what came of it."""
    found = [goal for goal in calibration.goals if goal.name.startswith(EQUALS)]
    if not found:
        return NOT_RUN
    told = next((goal for goal in found if goal.name.startswith(PAIRS)), found[0])
    if told.measured == NOT_RUN:
        return NOT_RUN
    few = ", too few to say that it is right" if told.met is None else ""
    return f"A/A: equals told apart in {told.measured} races{few}"


def goals_table(goals: Sequence[Goal]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("what", "goal", "measured", ""):
        table.add_column(heading, overflow="fold")
    for goal in goals:
        word, style = MET[goal.met]
        texts = [Text(words) for words in (goal.name, goal.goal, goal.measured)]
        table.add_row(*texts, Text(word, style=style))
    return table


def details(goals: Sequence[Goal]) -> list[str]:
    """What each rests on, one line a goal."""
    return [f"{goal.name}: {goal.detail}" for goal in goals if goal.detail]
