"""Whether a comparison says that there is a difference: as reports do it, and in two wrong ways.

The wrong ways are what measurements of servers are most often spoilt by. They are here so that
anyone can see that the calibration finds them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from regatta.analysis.contrast import FEWEST_BLOCKS, by_block, paired
from regatta.analysis.metrics import FRACTIONS, Metric
from regatta.analysis.percentiles import nearest_rank
from regatta.calibrate.sizes import LEVEL
from regatta.ledger_read import Trial, latencies_ns

REQUESTS, PEEK = "requests", "peek"
FIRST_LOOK = 3

Alarm = Callable[[Metric, str, Sequence[Trial], Sequence[Trial]], bool]
"""Metric, side, and the trials of two contenders: whether they are said to differ."""


def honest(metric: Metric, side: str, first: Sequence[Trial], second: Sequence[Trial]) -> bool:
    """As every table and claim decides it."""
    contrast = paired(metric, side, list(first), list(second))
    return not isinstance(contrast, str) and contrast.p_value() <= LEVEL


def peeking(metric: Metric, side: str, first: Sequence[Trial], second: Sequence[Trial]) -> bool:
    """Looks after every block, and stops at the first difference."""
    looks = range(FIRST_LOOK, len(first) + 1)
    return any(honest(metric, side, first[:look], second[:look]) for look in looks)


def by_requests(metric: Metric, side: str, first: Sequence[Trial], second: Sequence[Trial]) -> bool:
    """Takes every request for an independent measurement, and forgets the trials."""
    if FRACTIONS.get(metric.name, 1.0) < 1.0:
        return pooled_differ(FRACTIONS[metric.name], first, second)
    mine, theirs = (by_block(metric, side, list(trials)) for trials in (first, second))
    if isinstance(mine, str) or isinstance(theirs, str):
        return False
    shared = sorted(mine.keys() & theirs.keys())
    if len(shared) < FEWEST_BLOCKS:
        return False
    # Each request bears its trial's figure, so n is that of requests.
    apart = np.array([theirs[block] - mine[block] for block in shared])
    requests = sum(trial.answered or 0 for trial in first)
    error = float(apart.std(ddof=1)) / math.sqrt(requests)
    return error > 0 and bool(2 * stats.norm.sf(abs(apart.mean()) / error) <= LEVEL)


def pooled_differ(fraction: float, first: Sequence[Trial], second: Sequence[Trial]) -> bool:
    """Whether as many of the one's requests as of the other's exceed their common percentile."""
    pools = [
        np.concatenate([latencies_ns(trial.samples) for trial in trials])
        for trials in (first, second)
    ]
    if min(len(pool) for pool in pools) == 0:
        return False
    limit = nearest_rank(np.concatenate(pools), fraction)
    shares = [float((pool > limit).mean()) for pool in pools]
    error = math.sqrt(fraction * (1 - fraction) * sum(1 / len(pool) for pool in pools))
    return bool(2 * stats.norm.sf(abs(shares[0] - shares[1]) / error) <= LEVEL)


ALARMS: dict[str | None, Alarm] = {None: honest, REQUESTS: by_requests, PEEK: peeking}
"""By the error that is put in."""
