"""How two cells compare in one metric: the ratio of the second to the first, paired in blocks.

Both raced in the same minutes of each block, so the machine's drift cancels. A metric that can be 0
has a difference in place of a ratio. The trial is the independent unit: one number a block and
cell, however many requests it rests on.
"""

import math
from typing import Literal

import numpy as np

from regatta.analysis.estimates import NS_PER_MS, OVER, taken, usable, usable_for
from regatta.analysis.statistics.paired_mean import PairedMean
from regatta.analysis.statistics.slower import FEWEST_BLOCKS, TOO_FEW_BLOCKS, slower
from regatta.analysis.statistics.waits import Waits, waits
from regatta.ledger.metrics import FRACTIONS, NO_TRIAL, P50, PRIMARY, Metric, side_of
from regatta.ledger.readings import Reading
from regatta.ledger.records import Trial

FURTHEST = math.log(1e9)
"""Of a ratio's logarithm: two blocks at a strict level may reach beyond what a number can hold."""
Scale = Literal["ratio", "difference"]


def outward(inner: float, scale: Scale) -> float:
    """What is shown of a mean: a ratio is taken from its logarithm."""
    if scale == "difference":
        return inner
    return math.exp(max(-FURTHEST, min(inner, FURTHEST)))


def paired(metric: Metric, side: str, first: list[Trial], second: list[Trial]) -> PairedMean | str:
    """How the second of two cells of one race differs, or the words that say why nobody knows.

    In logarithms where none is 0; of a percentile the share of slower requests (slower.py).
    """
    if metric.name in FRACTIONS:
        pair = slower(requests_of(first), requests_of(second), FRACTIONS[metric.name])
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


def requests_of(trials: list[Trial]) -> dict[int, Waits]:
    """By block, of the trials in which the client kept up: what a percentile is one of."""
    found = {trial.block: waits(trial) for trial in taken(P50, usable(trials))}
    return {block: requests for block, requests in found.items() if requests.count}


def by_block(metric: Metric, side: str, trials: list[Trial]) -> dict[int, float] | str:
    """One number a block, of the trials in which the client kept up; or words if none has one."""
    return of_trials(metric, side, usable(trials))


def primary_by_block(trials: list[Trial]) -> dict[int, float]:
    """Of the primary metric, also where the client set the pace; empty where no block has one."""
    side = side_of(PRIMARY)
    found = of_trials(PRIMARY, side, usable_for(PRIMARY, side, trials))
    return {} if isinstance(found, str) else found


def of_trials(metric: Metric, side: str, trials: list[Trial]) -> dict[int, float] | str:
    """The same of these trials, whatever they say of the client.

    A percentile that is over in one block has a number in none: without that block it would be the
    percentile of the cell's better ones.
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
    """In ms, of one trial's requests, or that it is over; nothing if there was none."""
    found = _percentiles(trial)
    return [found[metric.name]] if found else []


def _percentiles(trial: Trial) -> dict[str, Reading]:
    """All of them at once, and once: calibration asks for the same trials thousands of times."""
    key = (hash(trial.samples), len(trial.samples or b""), trial.unstarted)
    if key not in _known:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        requests = waits(trial)
        _known[key] = {
            name: OVER if requests.is_over(fraction) else requests.percentile(fraction) / NS_PER_MS
            for name, fraction in FRACTIONS.items()
            if requests.count
        }
    return _known[key]


MOST_KNOWN = 20_000
_known: dict[tuple[int, int, int], dict[str, Reading]] = {}
