"""Do the two accounts of the server's CPU time rank the contenders alike?

One is what was charged to the server, the other all that its CPUs did. With steered packets the
truth lies between them; without, both include the client's receiving and lack the server's own, so
they may agree and be wrong. Two contenders are in contradiction if the accounts show opposite
orders. All pairs at all steps of a table are a family for each account (statistics/joint.py): in 19
of 20 tables an account shows no false order. Nothing is decided by this: stars rest on the first
account.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from regatta.analysis.statistics.joint import BELOW, Mean, decide_jointly
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.units import BLOCKS, Units


@dataclass(frozen=True)
class Contradiction:
    at: int
    """The step of the axis."""
    less: str
    """Who is charged less for a request, …"""
    more: str
    """… than this one, whose CPUs are busy for less time."""
    charged: float
    """How many times as much `more` is charged: above 1."""
    busy: float
    """How many times as long its CPUs are busy: below 1."""


Accounts = tuple[BlockValues, BlockValues]
"""Of one contender: what it was charged for a request, and how long its CPUs were busy."""


def contradictions(
    steps: Mapping[int, Mapping[str, Accounts]], units: Units = BLOCKS
) -> list[Contradiction]:
    """The furthest apart first."""
    pairs = [
        (at, first, second)
        for at, known in steps.items()
        for first, second in combinations(sorted(known), 2)
    ]
    charged, busy = (
        [
            units.gathered(_log_ratios(steps[at][first][account], steps[at][second][account]))
            for at, first, second in pairs
        ]
        for account in (0, 1)
    )
    by_charge, by_busy = (decide_jointly(one, units=units).decisions for one in (charged, busy))
    found: list[Contradiction] = []
    for number, (at, first, second) in enumerate(pairs):
        if by_charge[number].sign * by_busy[number].sign < 0:
            less, more = (first, second) if by_charge[number].sign == BELOW else (second, first)
            distances = [abs(Mean.of_blocks(account[number]).value) for account in (charged, busy)]
            found.append(
                Contradiction(at, less, more, math.exp(distances[0]), math.exp(-distances[1]))
            )
    return sorted(found, key=lambda one: one.busy / one.charged)


def _log_ratios(first: BlockValues, second: BlockValues) -> BlockValues:
    """The logarithms of their ratios, in the blocks in which both are above 0."""
    return {
        block: math.log(value / second[block])
        for block, value in first.items()
        if value > 0 and second.get(block, 0.0) > 0
    }
