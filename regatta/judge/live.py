"""The standings of a running race, cheap enough for every trial, and how precise they are."""

import math
from pathlib import Path
from typing import Any

from regatta.judge.analyse import leads_of
from regatta.record.read import connect, read
from regatta.record.schema import SUPERSEDED

QUERY = f"""
SELECT contender, connections, rate, idle, slow, workers, work, load, engine, dialect,
       avg(value / answered) / 1000.0 AS cpu_us_per_request, count(*) AS trials
FROM trial JOIN cell ON cell.id = trial.cell_id JOIN counter ON counter.trial_id = trial.id
WHERE trial.status = 'ok' AND client_bound IS NULL AND trial.kind = 'timed' AND answered > 0
  AND NOT {SUPERSEDED}
  AND side = 'server' AND origin = 'kernel' AND event = 'cpu-time' AND state = 'counted'
GROUP BY cell.id ORDER BY contender_order, contender, cell.id
"""


def quick_standings(ledger_path: Path) -> list[dict[str, Any]]:
    """Mean server CPU per request of each cell that has a finished timed trial."""
    with connect(ledger_path) as connection:
        return [dict(row) for row in connection.execute(QUERY)]


# The precision of a race so far, for races that run until a target width. Only the widths of
# intervals are used, never their positions: stopping at significance would inflate false alarms.
# Each interval is at 95 % by itself, not simultaneous as in the report, where the width depends on
# the other contenders.


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
