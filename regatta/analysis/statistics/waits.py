"""How long each request of a trial took, including those that an open load never started.

A request that was due and had not started when the window ended took at least until then
(right-censored). Leaving it out would leave out the slowest. All such requests rank last, however
short their own wait: a percentile is then never below the truth, and one that reaches into them is
"over" what it would be if each had been answered at the end, which is never above the truth. The
client reports one load in the same way (src/results/percentile.h).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regatta.analysis.statistics.percentiles import nearest_rank, rank
from regatta.ledger.records import Trial
from regatta.ledger.samples import ANSWERED, UNSTARTED, all_samples

Nanoseconds = NDArray[np.int64]


@dataclass(frozen=True)
class Waits:
    known: Nanoseconds
    """Of the answered requests, sorted."""
    at_least: Nanoseconds
    """Of the others: what each had waited when the window ended."""

    @property
    def count(self) -> int:
        return len(self.known) + len(self.at_least)

    def is_over(self, fraction: float) -> bool:
        """Whether the percentile is only known to be at least something."""
        return rank(fraction, self.count) >= len(self.known)

    def percentile(self, fraction: float) -> float:
        """By nearest rank; what it is at least where it is over."""
        if self.is_over(fraction):
            return float(nearest_rank(np.concatenate([self.known, self.at_least]), fraction))
        return float(self.known[rank(fraction, self.count)])

    def share_within(self, limit: float) -> float:
        """Of all requests, as far as it is known."""
        return float(np.searchsorted(self.known, limit, "right")) / self.count


def waits(trial: Trial) -> Waits:
    return waits_of(trial.samples, trial.unstarted)


def waits_of(samples: bytes | None, unstarted: int) -> Waits:
    """Of a client's samples, and of as many unstarted requests as it counted."""
    records = all_samples(samples)
    lengths = records["end_ns"] - records["start_ns"]
    at_least = lengths[records["error"] == UNSTARTED]
    # An older client counted these requests and recorded none of them.
    unrecorded = max(0, unstarted - len(at_least))
    return Waits(
        known=np.sort(lengths[records["error"] == ANSWERED]),
        at_least=np.concatenate([at_least, np.zeros(unrecorded, np.int64)]),
    )


def pool(trials: Sequence[Waits]) -> Waits:
    """The requests of all of them together."""
    return Waits(
        known=np.sort(np.concatenate([trial.known for trial in trials])),
        at_least=np.concatenate([trial.at_least for trial in trials]),
    )
