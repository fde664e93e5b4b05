"""The goals of a calibration as a table for the terminal."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from regatta.ledger.inputs.calibration import MET, MISSED, NOT_MEASURED, NOT_REFUTED, Goal

STYLES = {MET: "green", NOT_REFUTED: "yellow", MISSED: "bold red", NOT_MEASURED: "yellow"}


def goals_table(goals: Sequence[Goal]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("what", "goal", "measured", ""):
        table.add_column(heading, overflow="fold")
    for goal in goals:
        word = goal.outcome.upper() if goal.outcome == MISSED else goal.outcome
        texts = [Text(words) for words in (goal.name, goal.goal, goal.measured)]
        table.add_row(*texts, Text(word, style=STYLES[goal.outcome]))
    return table
