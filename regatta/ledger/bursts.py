"""Metrics of one trial's bursts: latency by arrival, order of replies, number of different answers.

By the client's clock: a request arrives when its connection starts.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regatta.ledger.counters import NOT_SUPPORTED
from regatta.ledger.readings import Reading
from regatta.ledger.records import Trial
from regatta.ledger.samples import NOT_TOLD, SAMPLE, answered_samples


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 along the last axis; equal values get the mean of their ranks.

    Importing scipy.stats for it takes half a second, in every command.
    """
    given = np.asarray(values)
    order = np.argsort(given, axis=-1, kind="stable")
    ascending = np.take_along_axis(given, order, axis=-1)
    places = np.broadcast_to(np.arange(1, given.shape[-1] + 1), given.shape)
    differs = np.diff(ascending, axis=-1) != 0
    edge = np.ones((*given.shape[:-1], 1), dtype=bool)
    begins = np.concatenate([edge, differs], axis=-1)
    ends = np.concatenate([differs, edge], axis=-1)
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=-1)
    backwards = np.where(ends, places, given.shape[-1])[..., ::-1]
    last = np.minimum.accumulate(backwards, axis=-1)[..., ::-1]
    found = np.empty(given.shape)
    np.put_along_axis(found, order, (first + last) / 2, axis=-1)
    return found


Bursts = NDArray[np.void]
"""Records (`SAMPLE`), one row per burst, in the order of arrival."""


def bursts(trial: Trial) -> Bursts:
    """The bursts of a trial, with one request per connection; empty for other loads."""
    answered = answered_samples(trial.samples)
    if trial.rounds is not None and len(answered) > 0:
        each = np.unique(answered["connection"], return_counts=True)[1]
        if each.min() == each.max():
            ordered = answered[np.lexsort((answered["start_ns"], answered["connection"]))]
            rows = ordered.reshape(len(each), int(each[0])).T
            arrival = np.argsort(rows["start_ns"], axis=1, kind="stable")
            found: Bursts = np.take_along_axis(rows, arrival, axis=1)
            return found
    return np.empty((0, 0), SAMPLE)


def latencies_ns(found: Bursts) -> NDArray[np.int64]:
    latencies: NDArray[np.int64] = found["end_ns"] - found["start_ns"]
    return latencies


def latency_by_arrival(trial: Trial, _side: str) -> Reading:
    """Spearman's rank correlation, from -1 to 1; the mean over bursts."""
    found = bursts(trial)
    if found.shape[1] < 2:
        return NOT_SUPPORTED
    known = _correlations(found["start_ns"], latencies_ns(found))
    return sum(known) / len(known) if known else NOT_SUPPORTED


def out_of_order_percent(trial: Trial, _side: str) -> Reading:
    """As RFC 4737 for packets: a reply is late if a later arrival was answered before it."""
    found = bursts(trial)
    if found.shape[1] < 2:
        return NOT_SUPPORTED
    came = np.argsort(found["end_ns"], axis=1, kind="stable")
    return float(np.mean(came < np.maximum.accumulate(came, axis=1)) * 100)


def answers_per_burst(trial: Trial, _side: str) -> Reading:
    """The mean over bursts."""
    told = np.sort(bursts(trial)["told"], axis=1)
    if told.size == 0 or NOT_TOLD in told:
        return NOT_SUPPORTED
    return float(np.mean(1 + np.count_nonzero(np.diff(told, axis=1), axis=1)))


def _correlations(one: NDArray[np.int64], other: NDArray[np.int64]) -> list[float]:
    """Rank correlation of each row; rows of equal values have no order and are skipped."""
    first, second = (of - of.mean(axis=1, keepdims=True) for of in (ranks(one), ranks(other)))
    together, *alone = (
        (a * b).sum(axis=1) for a, b in ((first, second), (first, first), (second, second))
    )
    spread = alone[0] * alone[1]
    found: list[float] = (together[spread > 0] / np.sqrt(spread[spread > 0])).tolist()
    return found
