"""Do the two accounts of the server's CPU time rank the contenders alike?

One is what was charged to the server, the other all that its CPUs did; the truth lies between them.
Two contenders stand in contradiction where each account shows another one to need less. All pairs
at all steps of a table, by both accounts, are one family (regatta/analysis/best.py): in 19 of 20
tables no pair is called so by chance. Nothing is decided by it: stars rest on the first account.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product

from regatta.analysis.best import standings
from regatta.analysis.turned import BlockValues


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


def contradictions(steps: Mapping[int, Mapping[str, Accounts]]) -> list[Contradiction]:
    """The furthest apart first."""
    asked = [
        (at, first, second)
        for at, known in steps.items()
        for first, second in combinations(sorted(known), 2)
    ]
    places = [
        [{name: _logs(steps[at][name][account]) for name in (first, second)}]
        for (at, first, second), account in product(asked, (0, 1))
    ]
    decided = standings(places) if places else []
    found: list[Contradiction] = []
    for number, (at, first, second) in enumerate(asked):
        charged, busy = decided[2 * number], decided[2 * number + 1]
        for less, more in ((first, second), (second, first)):
            if less in busy and more in charged and charged[more].worse and busy[less].worse:
                ratios = math.exp(charged[more].value), math.exp(-busy[less].value)
                found.append(Contradiction(at, less, more, *ratios))
    return sorted(found, key=lambda one: one.busy / one.charged)


def _logs(values: BlockValues) -> BlockValues:
    return {block: math.log(value) for block, value in values.items() if value > 0}
