"""The latencies of a trial's requests, including requests that an open load never started.

A request that was due but had not started when the window closed is right-censored: it took at
least until then. Leaving it out would leave out the slowest. All censored requests rank last,
however short their own wait, so a percentile is never below the truth. A percentile among them is
"over" its value if each had been answered when the window closed, which is never above the truth.
The client reports in the same way (src/results/percentile.h).
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
class RequestLatencies:
    known: Nanoseconds
    """Latencies of the answered requests, sorted."""
    at_least: Nanoseconds
    """Of the censored ones: how long each had waited when the window closed."""

    @property
    def count(self) -> int:
        return len(self.known) + len(self.at_least)

    def is_over(self, fraction: float) -> bool:
        """Whether only a lower bound of the percentile is known."""
        return rank(fraction, self.count) >= len(self.known)

    def percentile(self, fraction: float) -> float:
        """By nearest rank; its lower bound if it is over."""
        if self.is_over(fraction):
            return float(nearest_rank(np.concatenate([self.known, self.at_least]), fraction))
        return float(self.known[rank(fraction, self.count)])

    def share_within(self, limit: float) -> float:
        """The share of all requests known to be within `limit`."""
        return float(np.searchsorted(self.known, limit, "right")) / self.count


def latencies_of(trial: Trial) -> RequestLatencies:
    return latencies_from_samples(trial.samples, trial.unstarted)


def latencies_from_samples(samples: bytes | None, unstarted: int) -> RequestLatencies:
    """From a client's samples and its count of unstarted requests."""
    records = all_samples(samples)
    lengths = records["end_ns"] - records["start_ns"]
    at_least = lengths[records["error"] == UNSTARTED]
    # Older clients counted unstarted requests without recording them.
    unrecorded = max(0, unstarted - len(at_least))
    return RequestLatencies(
        known=np.sort(lengths[records["error"] == ANSWERED]),
        at_least=np.concatenate([at_least, np.zeros(unrecorded, np.int64)]),
    )


def pool(trials: Sequence[RequestLatencies]) -> RequestLatencies:
    """The requests of all of them together."""
    return RequestLatencies(
        known=np.sort(np.concatenate([trial.known for trial in trials])),
        at_least=np.concatenate([trial.at_least for trial in trials]),
    )
