"""Whether a contender failed, or missed the offered rate, in too many of its trials to win.

The remaining trials would be a biased selection: the expensive ones may be those that failed.
"""

from collections.abc import Sequence

from regatta.analysis.estimates import takes
from regatta.analysis.soundness.open_load import is_held, started
from regatta.analysis.standings import FAILED
from regatta.ledger.cell import Cell
from regatta.ledger.metrics import PRIMARY
from regatta.ledger.records import Trial
from regatta.ledger.result import OK

ONE_IN = 10
"""More than one in this many trials is too many."""


def failing(trials: Sequence[Trial]) -> str:
    """`failed`, or `failed in 4 of 10 trials`; empty if not too many."""
    if trials and all(trial.status != OK for trial in trials):
        return FAILED
    timed = [trial for trial in trials if takes(PRIMARY, trial)]
    often = _often(sum(trial.status != OK for trial in timed), len(timed))
    return f"{FAILED} {often}" if often else ""


def slow(cell: Cell, trials: Sequence[Trial]) -> str:
    """`in 3 of 10 trials` that missed the rate; empty if not too many."""
    timed = [trial for trial in trials if takes(PRIMARY, trial) and trial.counts]
    return _often(sum(not is_held(started(cell, [trial])) for trial in timed), len(timed))


def _often(bad: int, of: int) -> str:
    return f"in {bad} of {of} trials" if ONE_IN * bad > of else ""
