"""How exact a race is so far, for a race that runs until a width is reached.

Only the widths of intervals are used, never where they lie: stopping when something is significant
would find it where there is nothing. So each is at 95 % by itself, and not simultaneous as the
report's, whose width depends on who else raced.
"""

import math
from pathlib import Path

from regatta.analysis.analyse import leads_of
from regatta.ledger.read import read


def widest_lead(path: Path) -> float | None:
    """Of all leads in the standings the widest interval: its upper end over its lower, less 1.

    None while some lead has no interval yet.
    """
    widths: list[float] = []
    for lead in leads_of(read(path)):
        interval = None if lead is None else lead.interval()
        if interval is None:
            return None
        widths.append(math.exp(interval[1] - interval[0]) - 1)
    return max(widths, default=None)
