"""Two common statistical errors, injected to show that the calibration detects them.

They compare the raced equal copies, with Bonferroni's correction for the number of pairs.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from regatta.checks.calibrate.equals.copies import pairs
from regatta.judge.contrast import by_block, paired
from regatta.judge.statistics.percentile_comparison import FEWEST_BLOCKS
from regatta.judge.statistics.percentiles import nearest_rank
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.record.metrics import FRACTIONS, STANDINGS, Metric, side_of
from regatta.record.records import RaceRecord, Trial
from regatta.record.samples import latencies_ns

REQUESTS, PEEK = "requests", "peek"
FIRST_TEST = 3

PValue = Callable[[Metric, str, Sequence[Trial], Sequence[Trial]], float | None]
"""From metric, side and the trials of two contenders; None if they cannot be compared."""


def peeking(
    metric: Metric, side: str, first: Sequence[Trial], second: Sequence[Trial]
) -> float | None:
    """Tests after every block and stops at the first difference."""
    blocks = sorted({trial.block for trial in first})
    found = [
        contrast.p_value()
        for count in range(FIRST_TEST, len(blocks) + 1)
        if not isinstance(
            contrast := paired(
                metric,
                side,
                [trial for trial in first if trial.block in blocks[:count]],
                [trial for trial in second if trial.block in blocks[:count]],
            ),
            str,
        )
    ]
    return min(found, default=None)


def by_requests(
    metric: Metric, side: str, first: Sequence[Trial], second: Sequence[Trial]
) -> float | None:
    """Treats every request as an independent measurement."""
    if FRACTIONS.get(metric.name, 1.0) < 1.0:
        return pooled_p(FRACTIONS[metric.name], first, second)
    mine, theirs = (by_block(metric, side, list(trials)) for trials in (first, second))
    if isinstance(mine, str) or isinstance(theirs, str):
        return None
    common = sorted(mine.keys() & theirs.keys())
    if len(common) < FEWEST_BLOCKS:
        return None
    # Each request counts as a measurement with the figure of its trial.
    differences = np.array([theirs[block] - mine[block] for block in common])
    requests = sum(trial.answered or 0 for trial in first)
    error = float(differences.std(ddof=1)) / math.sqrt(requests)
    return float(2 * stats.norm.sf(abs(differences.mean()) / error)) if error > 0 else 1.0


def pooled_p(fraction: float, first: Sequence[Trial], second: Sequence[Trial]) -> float | None:
    """Tests whether equal shares of the requests of both exceed their common percentile."""
    pools = [
        np.concatenate([latencies_ns(trial.samples) for trial in trials])
        for trials in (first, second)
    ]
    if min(len(pool) for pool in pools) == 0:
        return None
    limit = nearest_rank(np.concatenate(pools), fraction)
    shares = [float((pool > limit).mean()) for pool in pools]
    error = math.sqrt(fraction * (1 - fraction) * sum(1 / len(pool) for pool in pools))
    return float(2 * stats.norm.sf(abs(shares[0] - shares[1]) / error))


WRONG: Mapping[str, PValue] = {REQUESTS: by_requests, PEEK: peeking}
"""By injected error."""


def distinguished_by(wrong: PValue, ledger: RaceRecord) -> dict[str, list[str]]:
    """By metric that was measured, the pairs of equals that the wrong test distinguishes."""
    order = {cell.contender: cell.contender_order for cell in ledger.cells}
    both = [
        (f"pair {number} at {mine.connections:,}", ledger.trials_of(mine), ledger.trials_of(theirs))
        for number, (first, second) in enumerate(pairs(order).values(), start=1)
        for mine in ledger.cells
        for theirs in ledger.cells
        if (mine.contender, theirs.contender) == (first, second)
        and mine.comparison_key() == theirs.comparison_key()
    ]
    found: dict[str, list[str]] = {}
    for metric in STANDINGS:
        p_values = {
            pair: wrong(metric, side_of(metric), first, second) for pair, first, second in both
        }
        known = {pair: p_value for pair, p_value in p_values.items() if p_value is not None}
        if known:
            found[metric.name] = [
                pair for pair, p_value in known.items() if p_value * len(known) <= LEVEL
            ]
    return found
