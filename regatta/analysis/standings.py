"""Who won: the standings at each step of the axis, and overall, with verdicts.

The winner uses the least server CPU per request. Its lead over the runner-up is a ratio, paired
within blocks (both raced in the same minutes), as the mean of the logarithms. A lead counts only
if its interval excludes 1 after Holm's correction over all the leads that the table shows.
"""

import math
from dataclasses import dataclass

import numpy as np

from regatta.analysis.holm import Decision, holm
from regatta.analysis.metrics import PRIMARY
from regatta.analysis.swaps import Swapped

LARGER = "larger than the noise"
NO_DIFFERENCE = "no difference seen"
TOO_FEW = "too few trials"
ALONE = "alone"
NOT_MEASURED = "not measured"

BlockValues = dict[int, float]
"""One contender's server CPU per request in each block."""


@dataclass(frozen=True)
class Verdict:
    at: int | None
    """The step of the axis; None: over all of them."""
    winner: str | None
    runner_up: str | None
    lead: float | None
    """Runner-up's server CPU per request divided by the winner's."""
    low: float | None
    high: float | None
    level: float | None
    """The interval is drawn at 1 - level: Holm's step for this comparison."""
    p_value: float | None
    blocks: int
    detectable: float | None
    """The smallest ratio that would have been seen four times in five."""
    outcome: str


@dataclass(frozen=True)
class _Comparison:
    at: int | None
    winner: str
    runner_up: str
    lead: Swapped


def verdicts(values: dict[int, dict[str, BlockValues]]) -> tuple[list[Verdict], Verdict]:
    """One verdict for each step of the axis, and the overall one.

    With one step the overall verdict is that one, and no further comparison.
    """
    asked = _asked(values)
    comparisons = [one for one in asked if isinstance(one, _Comparison)]
    decisions = iter(holm([one.lead.p_value() for one in comparisons]))
    decided = [one if isinstance(one, Verdict) else _decide(one, next(decisions)) for one in asked]
    if len(values) > 1:
        return decided[:-1], decided[-1]
    return decided, decided[0] if decided else _nobody(None)


def leads(values: dict[int, dict[str, BlockValues]]) -> list[Swapped | None]:
    """The logarithms of all leads that the standings show; None: one of too few blocks."""
    return [
        one.lead if isinstance(one, _Comparison) else None
        for one in _asked(values)
        if one.runner_up is not None
    ]


def _asked(values: dict[int, dict[str, BlockValues]]) -> list[_Comparison | Verdict]:
    """At each step, then overall; with one step alone that is the same."""
    asked = [_compare(step, by_contender) for step, by_contender in values.items()]
    return [*asked, _compare(None, _over_all(values))] if len(values) > 1 else asked


def _nobody(at: int | None) -> Verdict:
    return Verdict(at, None, None, None, None, None, None, None, 0, None, NOT_MEASURED)


def _compare(at: int | None, by_contender: dict[str, BlockValues]) -> _Comparison | Verdict:
    """The two best, or a verdict at once where there is nothing to compare."""

    # The means that the standings show decide the order; overall it is the mean logarithm.
    def size(blocks: BlockValues) -> float:
        numbers = list(blocks.values())
        return math.exp(_mean_log(numbers)) if at is None else sum(numbers) / len(numbers)

    ranked = sorted(
        (size(blocks), name)
        for name, blocks in by_contender.items()
        if blocks and min(blocks.values()) > 0
    )
    if not ranked:
        return _nobody(at)
    winner = ranked[0][1]
    blocks = len(by_contender[winner])
    if len(ranked) == 1:
        return Verdict(at, winner, None, None, None, None, None, None, blocks, None, ALONE)
    runner_up = ranked[1][1]
    mine, theirs = by_contender[winner], by_contender[runner_up]
    shared = sorted(mine.keys() & theirs.keys())
    if len(shared) < 2:
        lead = ranked[1][0] / ranked[0][0]
        return Verdict(
            at, winner, runner_up, lead, None, None, None, None, len(shared), None, TOO_FEW
        )
    logs = np.array([math.log(theirs[block] / mine[block]) for block in shared])
    return _Comparison(at, winner, runner_up, Swapped(logs))


def _decide(comparison: _Comparison, decision: Decision) -> Verdict:
    lead = comparison.lead
    interval = lead.interval(decision.level)
    assert interval is not None, "a comparison has at least two blocks"
    detectable = lead.detectable(decision.level)
    return Verdict(
        at=comparison.at,
        winner=comparison.winner,
        runner_up=comparison.runner_up,
        lead=math.exp(lead.mean),
        low=math.exp(interval[0]),
        high=math.exp(interval[1]),
        level=decision.level,
        p_value=decision.adjusted_p,
        blocks=lead.count,
        detectable=None if detectable is None else math.exp(detectable),
        outcome=LARGER if decision.rejected else NO_DIFFERENCE,
    )


def _over_all(values: dict[int, dict[str, BlockValues]]) -> dict[str, BlockValues]:
    """Each contender's geometric mean over the steps, block by block.

    Only who raced at every step is ranked, and only in blocks where it finished all of them:
    otherwise a failure at the hardest step would look like a gain.
    """
    names = set.intersection(*(set(by_contender) for by_contender in values.values()))
    found: dict[str, BlockValues] = {}
    for name in names:
        columns = [by_contender[name] for by_contender in values.values()]
        shared = set.intersection(*(set(column) for column in columns))
        if shared and all(column[block] > 0 for column in columns for block in shared):
            found[name] = {
                block: math.exp(_mean_log([column[block] for column in columns]))
                for block in sorted(shared)
            }
    return found


def _mean_log(numbers: list[float]) -> float:
    return sum(math.log(number) for number in numbers) / len(numbers)


assert PRIMARY.better == "lower", "a winner is who needs least"
