"""Who cannot win: contenders that failed, missed the offered rate, or answered otherwise."""

import re
from collections.abc import Sequence

from regatta.judge.estimates import takes
from regatta.judge.standings import FAILED
from regatta.record.cell import Cell
from regatta.record.metrics import PRIMARY
from regatta.record.rate_search import STARTED_LIMIT
from regatta.record.records import DIFFER, OK, RaceRecord, Trial

# Whose answers are not to be believed: others than the other contenders', or others under load.
# Such a contender does other work, so it cannot win, however few of its trials show it.

ANSWERS = "answers "
"""Each reason begins with it."""
WRONG = re.compile(r"(?:\d+|for example) (changed|early)\b(?:.*?\banswered ([^;)]*))?")
"""In a client's reason for a failed load (measure/trial, src/client/results/advice.c)."""


def unlike(ledger: RaceRecord) -> dict[str, str]:
    """By contender, what is wrong with its answers, in words that follow its name."""
    names = {cell.id: cell.contender for cell in ledger.cells}
    said = [(names[trial.cell_id], trial.reason or "") for trial in ledger.last_attempts]
    for search in ledger.searches:
        said += [(search.cell.contender, probe.why_not or "") for probe in search.probes]
    found: dict[str, str] = dict(ledger.environment.get(DIFFER) or {})
    for name, reason in said:
        if (wrong := WRONG.search(reason)) and wrong[1] == "early":
            found[name] = f"{ANSWERS}before it has read the request"
        elif wrong:
            found[name] = f"{ANSWERS}{wrong[2] or 'otherwise'} under load"
    return found


def started(cell: Cell, trials: Sequence[Trial]) -> float | None:
    """The share of due requests started, over all trials; None without an open load or requests."""
    made = sum(trial.requests or 0 for trial in trials)
    due = made + sum(trial.unstarted for trial in trials)
    return made / due if cell.load == "open" and due else None


def is_held(share: float | None) -> bool:
    return share is None or share >= STARTED_LIMIT


# Whether a contender failed, or missed the offered rate, in too many of its trials to win. The
# remaining trials would be a biased selection: the expensive ones may be those that failed.

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
