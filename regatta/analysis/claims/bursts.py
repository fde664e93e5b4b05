"""How long a burst takes: until the last of its clients is answered.

That is not the slowest request of a trial: a trial of one connection has 200 bursts, and its
slowest is an accident; one of 100 connections has two, and its slowest request is simply the last.
"""

import numpy as np

from regatta.analysis.estimates import NS_PER_MS
from regatta.ledger.metrics import NO_TRIAL, Metric
from regatta.ledger.planned import TIMED
from regatta.ledger.readings import Reading
from regatta.ledger.records import Trial
from regatta.ledger.samples import answered_samples


def slowest_of_burst_ms(trial: Trial, _side: str) -> Reading:
    """The mean over the trial's bursts; each connection has one request in each."""
    answered = answered_samples(trial.samples)
    if len(answered) == 0:
        return NO_TRIAL
    ordered = answered[np.lexsort((answered["start_ns"], answered["connection"]))]
    each = np.unique(ordered["connection"], return_counts=True)[1]
    if each.min() != each.max():
        return NO_TRIAL
    latencies = (ordered["end_ns"] - ordered["start_ns"]).reshape(len(each), int(each[0]))
    return float(latencies.max(axis=0).mean()) / NS_PER_MS


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
