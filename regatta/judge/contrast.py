"""How two cells compare in one metric: the ratio of the second to the first, paired in blocks.

Both raced in the same minutes of each block, so machine drift cancels. A metric that can be 0 has a
difference instead of a ratio. The trial is the independent unit: one number a block and cell,
however many requests it has.
"""

import math
from typing import Literal

import numpy as np

from regatta.judge.estimates import NS_PER_MS, OVER, taken, usable, usable_for
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.percentile_comparison import (
    FEWEST_BLOCKS,
    TOO_FEW_BLOCKS,
    compare_percentiles,
)
from regatta.judge.statistics.percentiles import RequestLatencies, latencies_of
from regatta.record.metrics import BUSY, FRACTIONS, NO_TRIAL, P50, Metric, side_of
from regatta.record.readings import Reading
from regatta.record.records import Trial

FURTHEST = math.log(1e9)
"""Limit of a ratio's logarithm: with two blocks at a strict level, exp() could overflow."""
Scale = Literal["ratio", "difference"]


def outward(inner: float, scale: Scale) -> float:
    """Back from the scale of means: a ratio from its logarithm."""
    if scale == "difference":
        return inner
    return math.exp(max(-FURTHEST, min(inner, FURTHEST)))


def paired(metric: Metric, side: str, first: list[Trial], second: list[Trial]) -> PairedMean | str:
    """The differences of the second cell from the first, or why there are none.

    In logarithms if no value is 0; for a percentile the difference in the share of slower requests
    (percentile_comparison.py).
    """
    if metric.name in FRACTIONS:
        pair = compare_percentiles(requests_of(first), requests_of(second), FRACTIONS[metric.name])
        if isinstance(pair, str):
            return pair
        return PairedMean(np.array(list(pair.against(1.0).values())))
    mine, theirs = (by_block(metric, side, trials) for trials in (first, second))
    if isinstance(mine, str):
        return mine
    if isinstance(theirs, str):
        return theirs
    common = sorted(mine.keys() & theirs.keys())
    if len(common) < FEWEST_BLOCKS:
        return TOO_FEW_BLOCKS
    ours = np.array([mine[block] for block in common])
    others = np.array([theirs[block] for block in common])
    return PairedMean(np.log(others / ours) if min(ours.min(), others.min()) > 0 else others - ours)


def requests_of(trials: list[Trial]) -> dict[int, RequestLatencies]:
    """Latencies by block, from the trials in which the client kept up."""
    found = {trial.block: latencies_of(trial) for trial in taken(P50, usable(trials))}
    return {block: requests for block, requests in found.items() if requests.count}


def by_block(metric: Metric, side: str, trials: list[Trial]) -> dict[int, float] | str:
    """One number a block, from the trials in which the client kept up; or why there is none."""
    return of_trials(metric, side, usable(trials))


def usable_by_block(metric: Metric, trials: list[Trial]) -> dict[int, float]:
    """From all trials that are usable for the metric; empty if no block has it."""
    side = side_of(metric)
    found = of_trials(metric, side, usable_for(metric, side, trials))
    return {} if isinstance(found, str) else found


def busy_by_block(trials: list[Trial]) -> dict[int, float]:
    """How long the server's CPUs were busy per request, as far as that tells of the server."""
    return usable_by_block(BUSY, undisturbed(trials))


def undisturbed(trials: list[Trial]) -> list[Trial]:
    """Those whose busy time tells of the server: a program that takes all time that is left keeps
    the CPUs busy under every server alike."""
    return [trial for trial in trials if trial.disturbed is None]


def of_trials(metric: Metric, side: str, trials: list[Trial]) -> dict[int, float] | str:
    """One number a block of exactly these trials, or why there is none.

    A percentile that is unbounded in one block has no number at all: without that block it would be
    the percentile of the better blocks.
    """
    found: dict[int, float] = {}
    words = NO_TRIAL
    for trial in taken(metric, trials):
        read = [metric.read(trial, side)] if metric.read else _percentile(metric, trial)
        for reading in read:
            if reading == OVER:
                return OVER
            if isinstance(reading, str):
                words = reading
            else:
                found[trial.block] = reading
    return found or words


def _percentile(metric: Metric, trial: Trial) -> list[Reading]:
    """In ms, of one trial, or `over`; empty without requests."""
    requests, fraction = latencies_of(trial), FRACTIONS[metric.name]
    if not requests.count:
        return []
    return [OVER if requests.is_over(fraction) else requests.percentile(fraction) / NS_PER_MS]
