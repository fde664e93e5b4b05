"""The duration of a burst, until the last of its connections is answered.

That differs from the maximum latency of a trial: with one connection a trial has 200 bursts and its
maximum is an extreme value; with 100 connections it has two and its maximum is simply the last.
"""

import numpy as np

from regatta.analysis.estimates import NS_PER_MS
from regatta.ledger.bursts import bursts, latencies_ns
from regatta.ledger.metrics import NO_TRIAL, Metric
from regatta.ledger.planned import TIMED
from regatta.ledger.readings import Reading
from regatta.ledger.records import Trial


def slowest_of_burst_ms(trial: Trial, _side: str) -> Reading:
    """The mean over the trial's bursts."""
    latencies = latencies_ns(bursts(trial))
    return float(np.mean(latencies.max(axis=1))) / NS_PER_MS if latencies.size else NO_TRIAL


BURST_TIME = Metric(
    "burst_time_ms",
    "time until all are answered",
    "ms",
    TIMED,
    ("client",),
    "lower",
    slowest_of_burst_ms,
    "The slowest answer of a burst; the mean over bursts.",
)
