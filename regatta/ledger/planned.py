"""A trial that is to be run, and the kinds of trials."""

from dataclasses import dataclass

TIMED = "timed"
COUNTED_TRIAL = "counted"
ALONE = "alone"
"""Timed, and with no other server up: what company does shows beside the timed ones."""


@dataclass(frozen=True)
class PlannedTrial:
    """One trial that is to be run. `cell_id` counts the study's cells from 1."""

    block: int
    position: int
    cell_id: int
    kind: str
    sitting: int = 1
