"""Pairs of contenders that two measures of the same quantity rank in opposite order.

Charged and busy time are two accounts of server CPU time: what was charged to the server, and all
that its CPUs did. With steered packets the truth is between them; without, both include the
client's receive path and lack the server's own, so they may agree and be wrong.

Time and cycles of a request, counted in the same trials, differ only by clock speed: if they rank a
pair in opposite order, the clock speeds differed.

For each measure, all pairs at all steps of a table are one family (joint.py), with a family-wise
error rate of 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from regatta.analysis.statistics.joint import BELOW, Mean, decide_jointly
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.units import BLOCKS, Units

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
    """The same by the second: below 1, or (unconfirmed_leads.py) not shown to be above."""


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
