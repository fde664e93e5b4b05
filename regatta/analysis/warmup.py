"""Whether trials were warm when the measuring began: a change-point test on each one's own series.

The latencies of a trial, in the order in which requests were started, are taken in segments of
whole rounds of all connections. If the trial was warm, their medians could stand in any order. The
rank test of Pettitt (1979), kept to the first half, finds the split that is least like that; its
p-value is read from random orders. But what disturbs a machine comes in bursts of up to a second,
so neighbouring segments are alike, and such a test finds changes where there is no warm-up. So the
same test is made of the trial backwards. A burst is as likely at the end as at the beginning; a
warm-up is not. Only if significantly more trials change early than late was the warm-up too short.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from regatta.analysis.estimates import takes, usable
from regatta.analysis.holm import Decision, holm
from regatta.analysis.metrics import P50
from regatta.ledger_read import Cell, Trial, latencies_in_order
from regatta.study import PROCESS

MOST_SEGMENTS = 40
FEWEST_SEGMENTS = 8
LEVEL = 0.05
ORDERS = 3_999
SEED = 1979

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Change:
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
    """Of as many more early changes, corrected for the number of contenders (Holm)."""
    share: float | None
    """How much of a trial came before its early change: the median; None without one."""
    ratio: float | None
    """Latency before it divided by that after it: the median."""
    too_short: bool


def warm_ups(cells: list[Cell], trials: dict[int, list[Trial]]) -> list[WarmUp]:
    """One for each contender with a trial that could be tested; whole processes have no warm-up."""
    found: dict[str, list[_Tested]] = {}
    for cell in cells:
        if cell.scope == PROCESS:
            continue
        for trial in usable(trials.get(cell.id, [])):
            medians = segments(trial, cell.connections) if takes(P50, trial) else np.empty(0)
            if len(medians) < FEWEST_SEGMENTS:
                continue
            both = _Tested(change(medians), change(medians[::-1]) is not None)
            found.setdefault(cell.contender, []).append(both)
    decisions = holm([_more_early(tested) for tested in found.values()])
    return [
        _warm_up(name, tested, decision)
        for (name, tested), decision in zip(found.items(), decisions, strict=True)
    ]


@dataclass(frozen=True)
class _Tested:
    """One trial."""

    early: Change | None
    late: bool


def _warm_up(contender: str, tested: list[_Tested], decision: Decision) -> WarmUp:
    changes = [one.early for one in tested if one.early is not None]
    return WarmUp(
        contender=contender,
        tested=len(tested),
        early=len(changes),
        late=sum(one.late for one in tested),
        p_value=decision.adjusted_p,
        share=float(np.median([one.share for one in changes])) if changes else None,
        ratio=float(np.median([one.ratio for one in changes])) if changes else None,
        too_short=decision.rejected,
    )


def _more_early(tested: list[_Tested]) -> float:
    """The chance of as many early changes if early and late ones were alike likely.

    A trial with both says nothing of which end is the odd one.
    """
    early = sum(one.early is not None and not one.late for one in tested)
    late = sum(one.early is None and one.late for one in tested)
    if early + late == 0:
        return 1.0
    return float(stats.binomtest(early, early + late, 0.5, alternative="greater").pvalue)


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


def change(medians: Floats) -> Change | None:
    """The early change of a series, if it is beyond what random orders show."""
    count = len(medians)
    if count < FEWEST_SEGMENTS:
        return None
    ranks: Floats = stats.rankdata(medians)
    strengths = _strengths(ranks[None, :])[0]
    at = int(strengths.argmax())
    if strengths[at] <= _critical(count):
        return None
    before, after = np.median(medians[: at + 1]), np.median(medians[at + 1 :])
    return Change((at + 1) / count, float(before / after)) if after > 0 else None


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
