"""Whether trials were warm when the window opened: a change-point test on each trial's latencies.

The latencies of a trial, in the order in which requests started, are split into segments of whole
rounds of all connections. In a warm trial the order of their medians is random. The rank test of
Pettitt (1979), limited to the first half, finds the strongest change; its p-value comes from random
permutations. But disturbances come in bursts of up to a second, so neighbouring segments are
correlated and the test also finds changes without a warm-up. So it is repeated on the reversed
series: a burst is as likely at the end as at the beginning, a warm-up is not. The warm-up was too
short only if significantly more trials change early than late.

One slow segment in forty changes hardly any rank. So the first segment is also compared with the
last, one ratio a trial, over all trials of a contender (statistics/paired_mean.py). That detects
10 % in one segment of twenty, which one round of warm-up left on the build machine. An effect that
adds less than 1 % to a trial is not reported.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.analysis.estimates import takes, usable
from regatta.analysis.statistics.holm import Decision, holm
from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.paired_mean import Floats, PairedMean
from regatta.ledger.cell import PROCESS, Cell
from regatta.ledger.metrics import P50
from regatta.ledger.ranks import ranks
from regatta.ledger.records import Trial
from regatta.ledger.samples import latencies_in_order

MOST_SEGMENTS = 40
FEWEST_SEGMENTS = 8
MATTERS = 0.01
"""Smallest reported effect of a short warm-up on a trial's mean latency."""
ORDERS = 3_999
SEED = 1979


@dataclass(frozen=True)
class ChangePoint:
    """An early change of one trial."""

    share: float
    """The share of the trial before it."""
    ratio: float
    """Median latency before it divided by that after it."""


@dataclass(frozen=True)
class WarmUp:
    """Of all trials of one contender."""

    contender: str
    tested: int
    """Trials with enough rounds to be tested."""
    early: int
    """Trials that changed in their first half."""
    late: int
    """Trials that changed in their last half, by the same test: chance and bursts."""
    p_value: float
    """Of the excess of early changes, adjusted for the number of tests (Holm)."""
    share: float | None
    """Median share of a trial before its early change; None without one."""
    ratio: float | None
    """Median ratio of the latency before it to that after it."""
    first: float
    """Geometric mean over trials of the first segment's latency divided by the last's."""
    first_low: float
    first_high: float
    """Its interval, at Holm's level."""
    segment: float
    """Median share of a trial that a segment is."""
    too_short: bool
    """By either test, and by more than 1 % of the trial's latencies."""


def warm_ups(cells: list[Cell], trials: dict[int, list[Trial]]) -> list[WarmUp]:
    """One for each contender with a testable trial; whole processes have no warm-up."""
    found: dict[str, list[_Tested]] = {}
    for cell in cells:
        if cell.scope == PROCESS:
            continue
        for trial in usable(trials.get(cell.id, [])):
            medians = segments(trial, cell.connections) if takes(P50, trial) else np.empty(0)
            if len(medians) < FEWEST_SEGMENTS or medians.min() <= 0:
                continue
            found.setdefault(cell.contender, []).append(_tested(medians))
    first = {
        name: PairedMean(np.array([one.first_to_last for one in of])) for name, of in found.items()
    }
    p_values = [p for name, of in found.items() for p in (_more_early(of), first[name].p_value())]
    decisions = iter(holm(p_values))
    return [
        _warm_up(name, of, first[name], (next(decisions), next(decisions)))
        for name, of in found.items()
    ]


@dataclass(frozen=True)
class _Tested:
    """One trial."""

    early: ChangePoint | None
    late: bool
    first_to_last: float
    """Logarithm of the first segment's median latency relative to the last."""
    segment: float


def _tested(medians: Floats) -> _Tested:
    return _Tested(
        early=change_point(medians),
        late=change_point(medians[::-1]) is not None,
        first_to_last=float(np.log(medians[0] / medians[-1])),
        segment=1 / len(medians),
    )


def _warm_up(
    contender: str, tested: list[_Tested], first: PairedMean, decisions: tuple[Decision, Decision]
) -> WarmUp:
    changes = [one.early for one in tested if one.early is not None]
    by_changes, by_first = decisions
    low, high = first.interval(by_first.level) or (first.mean, first.mean)
    segment = float(np.median([one.segment for one in tested]))
    share = float(np.median([one.share for one in changes])) if changes else None
    ratio = float(np.median([one.ratio for one in changes])) if changes else None
    changed = by_changes.rejected and abs((ratio or 1) - 1) * (share or 0) > MATTERS
    slow_first = by_first.rejected and (np.exp(low) - 1) * segment > MATTERS
    return WarmUp(
        contender=contender,
        tested=len(tested),
        early=len(changes),
        late=sum(one.late for one in tested),
        p_value=by_changes.adjusted_p,
        share=share,
        ratio=ratio,
        first=float(np.exp(first.mean)),
        first_low=float(np.exp(low)),
        first_high=float(np.exp(high)),
        segment=segment,
        too_short=bool(changed or slow_first),
    )


def _more_early(tested: list[_Tested]) -> float:
    """p-value of so many early changes if early and late ones were equally likely (sign test).

    Trials with both are uninformative.
    """
    early = sum(one.early is not None and not one.late for one in tested)
    late = sum(one.early is None and one.late for one in tested)
    if early + late == 0:
        return 1.0
    return float(special.bdtrc(early - 1, early + late, 0.5))


def segments(trial: Trial, connections: int) -> Floats:
    """The median latency of at most 40 consecutive segments of whole rounds."""
    series = latencies_in_order(trial.samples)
    rounds = len(series) // max(1, connections)
    if rounds < FEWEST_SEGMENTS:
        return np.empty(0)
    each = -(-rounds // MOST_SEGMENTS) * max(1, connections)
    count = len(series) // each
    medians: Floats = np.median(series[: count * each].reshape(count, each), axis=1)
    return medians


def change_point(medians: Floats) -> ChangePoint | None:
    """The early change of a series, if it is significant."""
    count = len(medians)
    if count < FEWEST_SEGMENTS:
        return None
    strengths = _strengths(ranks(medians)[None, :])[0]
    at = int(strengths.argmax())
    if strengths[at] <= _critical(count):
        return None
    before, after = np.median(medians[: at + 1]), np.median(medians[at + 1 :])
    return ChangePoint((at + 1) / count, float(before / after)) if after > 0 else None


def _strengths(ranked: Floats) -> Floats:
    """Deviation of the first 1, 2, … ranks from their mean, in standard errors."""
    count = ranked.shape[1]
    first = np.arange(1, count // 2 + 1)
    sums = np.cumsum(ranked[:, : count // 2], axis=1) - first * (count + 1) / 2
    strengths: Floats = np.abs(sums) / np.sqrt(first * (count - first) * (count + 1) / 12)
    return strengths


@cache
def _critical(count: int) -> float:
    """Exceeded by the strongest split of a random permutation with probability LEVEL."""
    generator = np.random.default_rng(SEED)
    ranked = np.argsort(generator.random((ORDERS, count)), axis=1).astype(np.float64) + 1
    return float(np.quantile(_strengths(ranked).max(axis=1), 1 - LEVEL))
