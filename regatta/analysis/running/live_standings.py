"""The standings so far, cheap enough for every trial of a running race."""

from pathlib import Path
from typing import Any

from regatta.ledger.read import connect
from regatta.ledger.schema import SUPERSEDED

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
