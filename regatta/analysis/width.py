"""How exact a race is so far: what a race that runs until a width is reached looks at.

Only the widths of intervals are looked at, never where they lie: to stop when something has become
significant would find it where there is nothing.
"""

from pathlib import Path

from regatta.analysis.analyse import verdicts_of
from regatta.ledger_read import read


def widest_lead(path: Path) -> float | None:
    """Of all leads in the standings the widest interval: its upper end over its lower, less 1.

    None while some lead has no interval yet.
    """
    widths: list[float] = []
    for by_step, overall in verdicts_of(read(path)):
        for verdict in {*by_step, overall}:
            if verdict.runner_up is None:
                continue
            if verdict.low is None or verdict.high is None:
                return None
            widths.append(verdict.high / verdict.low - 1)
    return max(widths, default=None)
