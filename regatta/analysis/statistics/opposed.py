"""Which pairs two measures of one thing rank in opposite orders.

Charged and busy are two accounts of the server's CPU time: what was charged to it, and all that its
CPUs did. With steered packets the truth lies between them; without, both include the client's
receiving and lack the server's own, so they may agree and be wrong. Stars rest on the first alone.

Time and cycles of a request, counted in the same trials, differ only by the clock: where they rank
otherwise, it differed while they ran.

All pairs at all steps of a table are a family for each measure (joint.py): in 19 of 20 tables a
measure shows no false order.
"""

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
class Opposed:
    at: int
    """The step of the axis."""
    less: str
    """Who has less by the first measure, …"""
    more: str
    """… than this one, who has less by the second."""
    first: float
    """How many times as much `more` has by the first: above 1."""
    second: float
    """And by the second: below 1."""


def opposed(steps: Mapping[int, Mapping[str, Measures]], units: Units = BLOCKS) -> list[Opposed]:
    """The furthest apart first."""
    pairs = [
        (at, one, other)
        for at, known in steps.items()
        for one, other in combinations(sorted(known), 2)
    ]
    by_measure = [
        [
            units.gathered(_log_ratios(steps[at][one][measure], steps[at][other][measure]))
            for at, one, other in pairs
        ]
        for measure in (0, 1)
    ]
    decided = [decide_jointly(of, units=units).decisions for of in by_measure]
    found: list[Opposed] = []
    for number, (at, one, other) in enumerate(pairs):
        signs = [decisions[number].sign for decisions in decided]
        if signs[0] * signs[1] < 0:
            less, more = (one, other) if signs[0] == BELOW else (other, one)
            distances = [abs(Mean.of_blocks(of[number]).value) for of in by_measure]
            found.append(Opposed(at, less, more, math.exp(distances[0]), math.exp(-distances[1])))
    return sorted(found, key=lambda pair: pair.second / pair.first)


def _log_ratios(first: BlockValues, second: BlockValues) -> BlockValues:
    """The logarithms of their ratios, in the blocks in which both are above 0."""
    return {
        block: math.log(value / second[block])
        for block, value in first.items()
        if value > 0 and second.get(block, 0.0) > 0
    }
