"""Leads by charged time that busy time does not show.

Charged time lacks what the kernel did for a server while its CPU was asleep, so it can show a lead
that the CPUs' busy time, which lacks nothing, has no trace of. A lead is unconfirmed if busy time
does not show it, and the two ratios are shown to differ: otherwise busy time may only be noisier.

The leads of a table, one a step at most, are one family of each of the two tests (joint.py).
"""

import math
from collections.abc import Mapping

from regatta.analysis.statistics.joint import ABOVE, Mean, decide_jointly
from regatta.analysis.statistics.rank_conflicts import Measures, RankConflict, log_ratios
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.units import BLOCKS, Units

Lead = tuple[str, str]
"""The winner and the next."""


def unconfirmed_leads(
    steps: Mapping[int, Mapping[str, Measures]], leads: Mapping[int, Lead], units: Units = BLOCKS
) -> list[RankConflict]:
    """By step; `steps` has charged and busy time of each contender."""
    found = [(at, *lead) for at, lead in leads.items() if set(lead) <= steps.get(at, {}).keys()]
    charged, busy = (
        [
            units.gathered(log_ratios(steps[at][more][measure], steps[at][less][measure]))
            for at, less, more in found
        ]
        for measure in (0, 1)
    )
    gaps = [_minus(one, other) for one, other in zip(charged, busy, strict=True)]
    confirmed, apart = (decide_jointly(of, units).decisions for of in (busy, gaps))
    return [
        RankConflict(
            *found[number],
            *(math.exp(Mean.of_blocks(of[number]).value) for of in (charged, busy)),
        )
        for number in range(len(found))
        if confirmed[number].sign != ABOVE and apart[number].sign == ABOVE
    ]


def _minus(one: BlockValues, other: BlockValues) -> BlockValues:
    return {unit: value - other[unit] for unit, value in one.items() if unit in other}
