"""The precision of a race so far, for races that run until a target width.

Only the widths of intervals are used, never their positions: stopping at significance would inflate
false alarms. Each interval is at 95 % by itself, not simultaneous as in the report, where the width
depends on the other contenders.
"""

import math
from pathlib import Path

from regatta.analysis.analyse import leads_of
from regatta.ledger.read import read


def reason_to_stop(path: Path, width_percent: float) -> str | None:
    """Why a race is as exact as it was asked to be; None while it is not."""
    widest = widest_lead(path)
    if widest is None or widest * 100 > width_percent:
        return None
    return (
        f"the widest interval of a lead is {widest * 100:.1f} % wide, and {width_percent:g} % was "
        "asked for"
    )


def widest_lead(path: Path) -> float | None:
    """The widest interval of all leads, upper end / lower end - 1; None while a lead has none."""
    widths: list[float] = []
    for lead in leads_of(read(path)):
        interval = None if lead is None else lead.interval()
        if interval is None:
            return None
        widths.append(math.exp(interval[1] - interval[0]) - 1)
    return max(widths, default=None)
