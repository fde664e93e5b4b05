"""Leads by charged time that busy time does not show.

Charged time lacks what the kernel did for a server while its CPU was asleep, so it can show a lead
that the CPUs' busy time, which lacks nothing, has no trace of. A lead is unconfirmed if busy time
does not show it, and the two leads are shown to differ: otherwise busy time may only be noisier.

Both are compared in time per request: what else runs on the CPUs costs all contenders the same, so
it cancels in a difference, but not in a ratio. The leads of a table are one family of each of the
two tests (joint.py).
"""

from collections.abc import Mapping

from regatta.analysis.statistics.joint import ABOVE, decide_jointly
from regatta.analysis.statistics.rank_conflicts import Measures
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.units import BLOCKS, Units

Lead = tuple[int | None, str, str]
"""The step, or None over all steps; the contender with less charged time, and the other."""
CHARGED, BUSY = 0, 1


def unconfirmed_leads(
    leads: Mapping[Lead, tuple[Measures, Measures]], units: Units = BLOCKS
) -> list[Lead]:
    """`leads`: charged and busy time per request of both."""
    charged, busy = (
        [_minus(more[account], less[account]) for less, more in leads.values()]
        for account in (CHARGED, BUSY)
    )
    gaps = list(map(_minus, charged, busy))
    confirmed, apart = (
        decide_jointly([units.gathered(one) for one in of], units).decisions for of in (busy, gaps)
    )
    return [
        lead
        for lead, shown, differ in zip(leads, confirmed, apart, strict=True)
        if shown.sign != ABOVE and differ.sign == ABOVE
    ]


def _minus(one: BlockValues, other: BlockValues) -> BlockValues:
    return {block: value - other[block] for block, value in one.items() if block in other}
