"""How a pool's workers shared the connections: the book's second table."""

from regatta.ledger.planned import TIMED
from regatta.ledger.records import Trial


def connections_by_rank(trials: list[Trial]) -> list[float]:
    """Of the busiest worker, the next, … the idlest: means over the timed trials.

    Ranked within each trial first. Which worker was busiest differs from trial to trial, and means
    by number would show all of them alike where each trial was most uneven. Empty without a pool.
    """
    ranked = [
        sorted(trial.workers, reverse=True)
        for trial in trials
        if trial.kind == TIMED and len(trial.workers) > 1
    ]
    if not ranked or len({len(workers) for workers in ranked}) > 1:
        return []
    return [sum(column) / len(ranked) for column in zip(*ranked, strict=True)]
