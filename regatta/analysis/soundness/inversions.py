"""Do time and cycles rank the contenders alike?

What a request takes of a CPU is a number of cycles; how long that lasts is the clock's doing. Where
two contenders have opposite orders by task-clock and by cycles, both counted in the same trials,
the clock differed while they ran (statistics/opposed.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from regatta.analysis.statistics.opposed import Measures, opposed
from regatta.analysis.statistics.units import BLOCKS, Units


@dataclass(frozen=True)
class Inversion:
    at: int
    """The step of the axis."""
    less: str
    """Who took less time for a request, …"""
    more: str
    """… than this one, who took fewer cycles."""
    time: float
    """How many times as long `more` took: above 1."""
    cycles: float
    """How many times as many cycles: below 1."""


def inversions(
    steps: Mapping[int, Mapping[str, Measures]], units: Units = BLOCKS
) -> list[Inversion]:
    """Of the time and the cycles of a request; the furthest apart first."""
    return [
        Inversion(one.at, one.less, one.more, time=one.first, cycles=one.second)
        for one in opposed(steps, units)
    ]
