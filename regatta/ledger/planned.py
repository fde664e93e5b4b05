"""A planned trial, and the kinds of trials."""

from dataclasses import dataclass

TIMED = "timed"
COUNTED_TRIAL = "counted"
ALONE = "alone"
"""Timed, with no other server running: shows how servers affect each other."""


@dataclass(frozen=True)
class PlannedTrial:
    """One planned trial. `cell_id` counts the study's cells from 1."""

    block: int
    position: int
    cell_id: int
    kind: str
    sitting: int = 1
