"""Whose answers are not to be believed: others than the other contenders', or others under load.

Such a contender does other work, so it cannot win, however few of its trials show it.
"""

import re

from regatta.ledger.records import DIFFER, RaceRecord

ANSWERS = "answers "
"""Each reason begins with it."""
WRONG = re.compile(r"(?:\d+|for example) (changed|early)\b(?:.*?\banswered ([^;)]*))?")
"""In a client's reason for a failed load (trial/client_summary.py, src/results/advice.c)."""


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
