"""Whose answers are not to be believed: others than the other contenders', or others under load.

Such a contender does other work, so it cannot win, however few of its trials show it.
"""

import re

from regatta.ledger.records import RaceRecord
from regatta.race.look import DIFFER

ANSWERS = "answers "
"""Each reason begins with it."""
CHANGED = re.compile(r"\d+ changed")
EARLY = re.compile(r"\d+ early")
"""In a client's reason, with their number (src/results/summary_json.c)."""


def unlike(ledger: RaceRecord) -> dict[str, str]:
    """By contender, what is wrong with its answers, in words that follow its name."""
    said: dict[str, list[str]] = {}
    names = {cell.id: cell.contender for cell in ledger.cells}
    for trial in ledger.last_attempts:
        said.setdefault(names[trial.cell_id], []).append(trial.reason or "")
    for search in ledger.searches:
        reasons = [probe.why_not or "" for probe in search.probes]
        said.setdefault(search.cell.contender, []).extend(reasons)
    found: dict[str, str] = dict(ledger.environment.get(DIFFER) or {})
    for name, reasons in said.items():
        if any(map(CHANGED.search, reasons)):
            found[name] = f"{ANSWERS}otherwise under load than before the race"
        elif any(map(EARLY.search, reasons)):
            found[name] = f"{ANSWERS}requests before it has read them"
    return found
