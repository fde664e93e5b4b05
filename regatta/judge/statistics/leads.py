"""Leads: of the first over the second, those that busy time does not show, and pairs that two
measures rank in opposite order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from regatta.judge.statistics.joint import ABOVE, BELOW, Mean, PairedMean, decide_jointly
from regatta.judge.statistics.percentile_comparison import FEWEST_BLOCKS
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import BLOCKS, Units

Values = dict[int, dict[str, BlockValues]]
"""Server CPU per request: by step, contender and block."""


def leads(values: Values) -> list[PairedMean | None]:
    """Logarithms of the leads at each step and overall; None for one with too few blocks."""
    contests = list(values.values())
    if len(contests) > 1:
        contests.append(_over_all(contests))
    ranked = [(contest, _first_two(contest)) for contest in contests]
    return [_lead(contest, *two) for contest, two in ranked if len(two) == 2]


def _first_two(contest: dict[str, BlockValues]) -> list[str]:
    means = {
        name: sum(values.values()) / len(values)
        for name, values in contest.items()
        if _is_known(values)
    }
    return sorted(means, key=lambda name: (means[name], name))[:2]


def _is_known(blocks: BlockValues) -> bool:
    return bool(blocks) and min(blocks.values()) > 0


def _lead(contest: dict[str, BlockValues], first: str, second: str) -> PairedMean | None:
    mine, theirs = contest[first], contest[second]
    common = sorted(mine.keys() & theirs.keys())
    if len(common) < FEWEST_BLOCKS:
        return None
    return PairedMean(np.array([math.log(theirs[block] / mine[block]) for block in common]))


def _over_all(contests: list[dict[str, BlockValues]]) -> dict[str, BlockValues]:
    """Geometric mean over the steps, block by block, of contenders that finished all steps."""
    names = set.intersection(*(set(contest) for contest in contests))
    found: dict[str, BlockValues] = {}
    for name in names:
        columns = [contest[name] for contest in contests]
        common = set.intersection(*(set(column) for column in columns))
        if all(_is_known(column) for column in columns):
            found[name] = {
                block: math.exp(sum(math.log(column[block]) for column in columns) / len(columns))
                for block in sorted(common)
            }
    return found


# Pairs of contenders that two measures of the same quantity rank in opposite order. Charged and
# busy time are two accounts of server CPU time: what was charged to the server, and all that its
# CPUs did. With steered packets the truth is between them; without, both include the client's
# receive path and lack the server's own, so they may agree and be wrong.
#
# Time and cycles of a request, counted in the same trials, differ only by clock speed: if they rank
# a pair in opposite order, the clock speeds differed.
#
# For each measure, all pairs at all steps of a table are one family (joint.py), with a family-wise
# error rate of 5 %.

Measures = tuple[BlockValues, BlockValues]
"""Of one contender: by the one measure and by the other."""


@dataclass(frozen=True)
class RankConflict:
    at: int
    """The step of the axis."""
    less: str
    """The contender with less by the first measure, …"""
    more: str
    """… and the one with more."""
    first: float
    """Ratio of `more` to `less` by the first measure: above 1."""
    second: float
    """The same by the second: below 1, or not shown to be above."""


def rank_conflicts(
    steps: Mapping[int, Mapping[str, Measures]], units: Units = BLOCKS
) -> list[RankConflict]:
    """The most contradictory first."""
    pairs = [
        (at, one, other)
        for at, known in steps.items()
        for one, other in combinations(sorted(known), 2)
    ]
    by_measure = [
        [
            units.gathered(log_ratios(steps[at][one][measure], steps[at][other][measure]))
            for at, one, other in pairs
        ]
        for measure in (0, 1)
    ]
    decided = [decide_jointly(of, units=units).decisions for of in by_measure]
    found: list[RankConflict] = []
    for number, (at, one, other) in enumerate(pairs):
        signs = [decisions[number].sign for decisions in decided]
        if signs[0] * signs[1] < 0:
            less, more = (one, other) if signs[0] == BELOW else (other, one)
            ratios = ratios_of(steps[at][less], steps[at][more], units)
            found.append(RankConflict(at, less, more, *ratios))
    return sorted(found, key=lambda pair: pair.second / pair.first)


def ratios_of(less: Measures, more: Measures, units: Units = BLOCKS) -> tuple[float, float]:
    """Of `more` to `less`, by the first measure and by the second."""
    first, second = (
        math.exp(Mean.of_blocks(units.gathered(log_ratios(one, other))).value)
        for one, other in zip(more, less, strict=True)
    )
    return first, second


def log_ratios(first: BlockValues, second: BlockValues) -> BlockValues:
    """Log ratios in the blocks in which both are positive."""
    return {
        block: math.log(value / second[block])
        for block, value in first.items()
        if value > 0 and second.get(block, 0.0) > 0
    }


# Leads by charged time that busy time does not show. With steered packets, charged time lacks what
# the kernel did for a server while its CPU was asleep, so it can show a lead that the CPUs' busy
# time has no trace of. A lead is unconfirmed if busy time does not show it, and the two leads are
# shown to differ (otherwise busy time may only be noisier), or if busy time shows the opposite.
#
# Both are compared as differences: what else runs on the CPUs costs all that serve the same rate
# the same time per request, so it cancels in a difference, but not in a ratio. For each of charged
# time, busy time and the gap between them, the leads of a table are one family (joint.py).

Lead = tuple[int | None, str, str]
"""The step, or None over all steps; the contender with less charged time, and the other."""
CHARGED, BUSY = 0, 1


def unconfirmed_leads(
    leads: Mapping[Lead, tuple[Measures, Measures]], units: Units = BLOCKS
) -> list[Lead]:
    """Those over contenders that are behind nobody else by a lead that stands.

    `leads`: charged and busy time per request of both, also where charged time shows no lead.
    """
    charged, busy = (
        [_minus(more[account], less[account]) for less, more in leads.values()]
        for account in (CHARGED, BUSY)
    )
    if not any(busy):
        return []
    gaps = list(map(_minus, charged, busy))
    signs = [
        [one.sign for one in decide_jointly(list(map(units.gathered, of)), units).decisions]
        for of in (charged, busy, gaps)
    ]
    shown = {
        lead: by_busy == BELOW or (by_busy != ABOVE and gap == ABOVE)
        for lead, by_charge, by_busy, gap in zip(leads, *signs, strict=True)
        if by_charge == ABOVE
    }
    behind = {(at, more) for (at, _, more), unconfirmed in shown.items() if not unconfirmed}
    return [lead for lead in shown if (lead[0], lead[2]) not in behind]


def _minus(one: BlockValues, other: BlockValues) -> BlockValues:
    return {block: value - other[block] for block, value in one.items() if block in other}
