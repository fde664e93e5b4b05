"""Whether a contender failed, or was too slow for the rate, in too many of its trials to win.

What is left of them would be its luckiest: the dear trials may be those that failed.
"""

from collections.abc import Sequence

from regatta.analysis.estimates import takes
from regatta.analysis.soundness.rate import is_held, started
from regatta.analysis.standings import FAILED
from regatta.ledger.cell import Cell
from regatta.ledger.metrics import PRIMARY
from regatta.ledger.records import Trial
from regatta.ledger.result import OK

ONE_IN = 10
"""More than one of so many trials is too many."""


def failing(trials: Sequence[Trial]) -> str:
    """`failed`, or `failed in 4 of 10 trials` of a cell; empty if no more than may be."""
    if trials and all(trial.status != OK for trial in trials):
        return FAILED
    timed = [trial for trial in trials if takes(PRIMARY, trial)]
    often = _often(sum(trial.status != OK for trial in timed), len(timed))
    return f"{FAILED} {often}" if often else ""


def slow(cell: Cell, trials: Sequence[Trial]) -> str:
    """`in 3 of 10 trials` it did not hold the rate; empty likewise."""
    timed = [trial for trial in trials if takes(PRIMARY, trial) and trial.counts]
    return _often(sum(not is_held(started(cell, [trial])) for trial in timed), len(timed))


def _often(bad: int, of: int) -> str:
    return f"in {bad} of {of} trials" if ONE_IN * bad > of else ""
