"""Whether an open load was offered as asked: the share of due requests that started in time."""

from collections.abc import Sequence

from regatta.ledger.cell import Cell
from regatta.ledger.rate_search import STARTED_LIMIT
from regatta.ledger.records import Trial


def started(cell: Cell, trials: Sequence[Trial]) -> float | None:
    """The share of due requests started, over all trials; None without an open load or requests."""
    made = sum(trial.requests or 0 for trial in trials)
    due = made + sum(trial.unstarted for trial in trials)
    return made / due if cell.load == "open" and due else None


def is_held(share: float | None) -> bool:
    return share is None or share >= STARTED_LIMIT
