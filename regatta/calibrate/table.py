"""The goals of a calibration as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rich import box
from rich.table import Table
from rich.text import Text

from regatta.calibrate.goals import (
    MET,
    MISSED,
    NOT_MEASURED,
    NOT_REFUTED,
    Calibration,
    Goal,
)
from regatta.report.text.durations import duration

EQUALS = "equals: "
"""How the names of all goals of the true A/A begin."""
PAIRS = f"{EQUALS}standings of pairs"
NOT_RUN = "A/A: not run"
STYLES = {MET: "green", NOT_REFUTED: "yellow", MISSED: "bold red", NOT_MEASURED: "yellow"}


def headline(calibration: Calibration) -> str:
    """One sentence: what, when, where."""
    moment = datetime.fromtimestamp(calibration.taken_at, UTC).strftime("%d %B %Y, %H:%M UTC")
    kind = "quick calibration, which proves little," if calibration.quick else "calibration"
    error = f" with an error put in ({calibration.inject})" if calibration.inject else ""
    counts = {word: len(calibration.that_are(word)) for word in (MET, NOT_REFUTED, MISSED)}
    open_too = f", {counts[NOT_REFUTED]} not refuted" if counts[NOT_REFUTED] else ""
    return (
        f"{kind}{error} of {moment}, in {duration(calibration.elapsed_s)}, "
        f"by Regatta {calibration.regatta_version}: {counts[MET]} of "
        f"{sum(counts.values())} goals met{open_too}"
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
        word = goal.outcome.upper() if goal.outcome == MISSED else goal.outcome
        texts = [Text(words) for words in (goal.name, goal.goal, goal.measured)]
        table.add_row(*texts, Text(word, style=STYLES[goal.outcome]))
    return table


def details(goals: Sequence[Goal]) -> list[str]:
    """What each rests on, one line a goal."""
    return [f"{goal.name}: {goal.detail}" for goal in goals if goal.detail]
