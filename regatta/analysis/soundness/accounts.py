"""Do the two accounts of the server's CPU time rank the contenders alike?

One is what was charged to the server, the other all that its CPUs did. With steered packets the
truth lies between them; without, both include the client's receiving and lack the server's own, so
they may agree and be wrong. Two contenders are in contradiction if the accounts show opposite
orders (statistics/opposed.py). Nothing is decided by this: stars rest on the first account.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from regatta.analysis.statistics.opposed import Measures, opposed
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


def contradictions(
    steps: Mapping[int, Mapping[str, Measures]], units: Units = BLOCKS
) -> list[Contradiction]:
    """Of what each was charged for a request and how long its CPUs were busy; furthest first."""
    return [
        Contradiction(one.at, one.less, one.more, charged=one.first, busy=one.second)
        for one in opposed(steps, units)
    ]
