"""The CPU that the lab itself used during the windows, here or by its workers on other hosts."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from regatta.ledger.records import Trial

RECORDED = "lab_percent"


@dataclass(frozen=True)
class LabUse:
    """In percent of one CPU."""

    mean: float
    maximum: float
    """Of the worst trial."""
    trials: int


def lab_use(trials: Sequence[Trial]) -> LabUse | None:
    """None if no trial recorded it."""
    found = [float(one.conditions[RECORDED]) for one in trials if RECORDED in one.conditions]
    return LabUse(fmean(found), max(found), len(found)) if found else None
