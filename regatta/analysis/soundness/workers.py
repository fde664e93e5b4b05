"""How the workers of a pool shared the connections: the book's second table."""

from regatta.ledger.planned import TIMED
from regatta.ledger.records import Trial


def connections_by_rank(trials: list[Trial]) -> list[float]:
    """Connections from the busiest to the least busy worker: means over timed trials.

    Ranked within each trial first: the busiest worker differs between trials, so means by worker
    number would look even although each trial was uneven. Empty without a pool.
    """
    ranked = [
        sorted(trial.workers, reverse=True)
        for trial in trials
        if trial.kind == TIMED and len(trial.workers) > 1
    ]
    if not ranked or len({len(workers) for workers in ranked}) > 1:
        return []
    return [sum(column) / len(ranked) for column in zip(*ranked, strict=True)]
