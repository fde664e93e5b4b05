"""Whether trials were warm when the measuring began: a change-point test on each one's own series.

The latencies of a trial, in the order in which requests were started, are taken in segments of
whole rounds of all connections. If the trial was warm, their medians could stand in any order. The
rank test of Pettitt (1979), kept to the first half, finds the split that is least like that; its
p-value is read from random orders. But what disturbs a machine comes in bursts of up to a second,
so neighbouring segments are alike, and such a test finds changes where there is no warm-up. So the
same test is made of the trial backwards. A burst is as likely at the end as at the beginning; a
warm-up is not. Only if significantly more trials change early than late was the warm-up too short.

One slow segment among forty changes hardly any rank. So the first segment is also held against the
last, over all trials of a contender, one ratio a trial (statistics/paired_mean.py). That sees 10 %
in one segment of twenty, as one round of warm-up left it on the build machine; what adds less than
1 % to a trial is not worth a notice.
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
from regatta.ledger.ranks import ranks_of
from regatta.ledger.records import Trial
from regatta.ledger.samples import latencies_in_order

MOST_SEGMENTS = 40
FEWEST_SEGMENTS = 8
MATTERS = 0.01
"""Of a trial's latencies, on average: what a warm-up that is left in them may add unsaid."""
ORDERS = 3_999
SEED = 1979


@dataclass(frozen=True)
class ChangePoint:
    """An early change of one trial."""

    share: float
    """How much of the trial came before it."""
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
    """Trials that changed in their last half, by the same test: what chance and bursts make."""
    p_value: float
    """Of as many more early changes, corrected for the number of such tests (Holm)."""
    share: float | None
    """How much of a trial came before its early change: the median; None without one."""
    ratio: float | None
    """Latency before it divided by that after it: the median."""
    first: float
    """Latency in the first segment divided by that in the last: the geometric mean over trials."""
    first_low: float
    first_high: float
    """Its interval, at Holm's level."""
    segment: float
    """How much of a trial a segment is: the median."""
    too_short: bool
    """By either test, and by more than 1 % of the trial's latencies."""


def warm_ups(cells: list[Cell], trials: dict[int, list[Trial]]) -> list[WarmUp]:
    """One for each contender with a trial that could be tested; whole processes have no warm-up."""
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
    """The logarithm of the first segment's median latency by the last one's."""
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
    """The chance of as many early changes if early and late ones were alike likely.

    A trial with both says nothing of which end is the odd one.
    """
    early = sum(one.early is not None and not one.late for one in tested)
    late = sum(one.early is None and one.late for one in tested)
    if early + late == 0:
        return 1.0
    return float(special.bdtrc(early - 1, early + late, 0.5))


def segments(trial: Trial, connections: int) -> Floats:
    """The median latency of each of at most 40 segments of whole rounds, in their order."""
    series = latencies_in_order(trial.samples)
    rounds = len(series) // max(1, connections)
    if rounds < FEWEST_SEGMENTS:
        return np.empty(0)
    each = -(-rounds // MOST_SEGMENTS) * max(1, connections)
    count = len(series) // each
    medians: Floats = np.median(series[: count * each].reshape(count, each), axis=1)
    return medians


def change_point(medians: Floats) -> ChangePoint | None:
    """The early change of a series, if it is beyond what random orders show."""
    count = len(medians)
    if count < FEWEST_SEGMENTS:
        return None
    ranks: Floats = ranks_of(medians)
    strengths = _strengths(ranks[None, :])[0]
    at = int(strengths.argmax())
    if strengths[at] <= _critical(count):
        return None
    before, after = np.median(medians[: at + 1]), np.median(medians[at + 1 :])
    return ChangePoint((at + 1) / count, float(before / after)) if after > 0 else None


def _strengths(ranks: Floats) -> Floats:
    """How far the first 1, 2, … ranks are from their mean, each in its own standard error."""
    count = ranks.shape[1]
    first = np.arange(1, count // 2 + 1)
    sums = np.cumsum(ranks[:, : count // 2], axis=1) - first * (count + 1) / 2
    strengths: Floats = np.abs(sums) / np.sqrt(first * (count - first) * (count + 1) / 12)
    return strengths


@cache
def _critical(count: int) -> float:
    """What the strongest split of a random order exceeds with probability LEVEL."""
    generator = np.random.default_rng(SEED)
    ranks = np.argsort(generator.random((ORDERS, count)), axis=1).astype(np.float64) + 1
    return float(np.quantile(_strengths(ranks).max(axis=1), 1 - LEVEL))
