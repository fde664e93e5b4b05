"""Detects a backlog that grows although it still fits into the connections."""

import numpy as np
from numpy.typing import NDArray

from regatta.ledger.samples import ANSWERED, records_in

NS_PER_S = 1e9


def backlog_growth(samples: bytes, duration_s: float) -> float:
    """Growth of the backlog, as a share of the requests due in the second half of the window.

    The backlog is the requests that are due and not answered. Its minimum in the last quarter is
    compared with that in the second quarter: the difference is what half a window adds, and a pause
    that is recovered within a quarter does not show. One request more does not count as growth.
    """
    records = records_in(samples)
    if len(records) == 0:
        return 0.0
    start_ns, quarter_ns = records["start_ns"].min(), duration_s * NS_PER_S / 4
    marks = [start_ns + count * quarter_ns for count in range(5)]
    times, levels = _levels(records)
    grown = _least(times, levels, marks[3], marks[4]) - _least(times, levels, marks[1], marks[2])
    due = np.count_nonzero(records["start_ns"] >= marks[2])
    return grown / due if grown > 1 else 0.0


def _levels(records: NDArray[np.void]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The times at which the backlog changes, and its size after each."""
    answered = records[records["error"] == ANSWERED]
    times = np.concatenate([records["start_ns"], answered["end_ns"]])
    steps = np.repeat(np.array([1, -1]), [len(records), len(answered)])
    order = np.argsort(times, kind="stable")
    return times[order], np.cumsum(steps[order])


def _least(
    times: NDArray[np.int64], levels: NDArray[np.int64], begin_ns: float, end_ns: float
) -> int:
    first, last = np.searchsorted(times, [begin_ns, end_ns], side="right")
    return int(levels[max(0, first - 1) : last].min())
