"""What one trial's bursts say: who waited, in which order replies came, what they told.

By the client's clock: a request arrives when its connection is begun.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from regatta.ledger.counters import NOT_SUPPORTED
from regatta.ledger.readings import Reading
from regatta.ledger.records import Trial
from regatta.ledger.samples import NOT_TOLD, answered_samples

Burst = NDArray[np.void]
"""The records (`SAMPLE`) of one burst, in the order of arrival."""


def bursts(trial: Trial) -> list[Burst]:
    """Of a trial whose load came in bursts: each connection has one request in each."""
    answered = answered_samples(trial.samples)
    if trial.rounds is None or len(answered) == 0:
        return []
    each = np.unique(answered["connection"], return_counts=True)[1]
    if each.min() != each.max():
        return []
    ordered = answered[np.lexsort((answered["start_ns"], answered["connection"]))]
    rounds = ordered.reshape(len(each), int(each[0])).T
    return [burst[np.argsort(burst["start_ns"], kind="stable")] for burst in rounds]


def latency_by_arrival(trial: Trial, _side: str) -> Reading:
    """Spearman's rank correlation, from -1 to 1; the mean over bursts."""
    return _mean(trial, lambda burst: _correlation(burst["start_ns"], latencies_ns(burst)))


def out_of_order_percent(trial: Trial, _side: str) -> Reading:
    """As RFC 4737 counts packets: a reply is late if one to a later arrival has come before it."""
    return _mean(trial, _late_percent)


def answers_per_burst(trial: Trial, _side: str) -> Reading:
    return _mean(trial, _answers)


def latencies_ns(burst: Burst) -> NDArray[np.int64]:
    latencies: NDArray[np.int64] = burst["end_ns"] - burst["start_ns"]
    return latencies


def _mean(trial: Trial, of_burst: Callable[[Burst], float | None]) -> Reading:
    """Over the bursts of which it can be said."""
    known = [found for burst in bursts(trial) if (found := of_burst(burst)) is not None]
    return sum(known) / len(known) if known else NOT_SUPPORTED


def _correlation(one: NDArray[np.int64], other: NDArray[np.int64]) -> float | None:
    """None where all are alike: then there is no order."""
    first, second = _ranks(one), _ranks(other)
    if 0 in (np.ptp(first), np.ptp(second)):
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _ranks(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """From the smallest; of equal values the mean of their places."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


def _late_percent(burst: Burst) -> float | None:
    if len(burst) < 2:
        return None
    came = np.argsort(burst["end_ns"], kind="stable")
    return float(np.mean(came < np.maximum.accumulate(came)) * 100)


def _answers(burst: Burst) -> float | None:
    told = set(burst["told"].tolist())
    return None if NOT_TOLD in told else float(len(told))
