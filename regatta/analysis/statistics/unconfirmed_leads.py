"""Leads by charged time that busy time does not show.

With steered packets, charged time lacks what the kernel did for a server while its CPU was asleep,
so it can show a lead that the CPUs' busy time has no trace of. A lead is unconfirmed if busy time
does not show it, and the two leads are shown to differ (otherwise busy time may only be noisier),
or if busy time shows the opposite.

Both are compared as differences: what else runs on the CPUs costs all that serve the same rate the
same time per request, so it cancels in a difference, but not in a ratio. For each of charged time,
busy time and the gap between them, the leads of a table are one family (joint.py).
"""

from collections.abc import Mapping

from regatta.analysis.statistics.joint import ABOVE, BELOW, decide_jointly
from regatta.analysis.statistics.rank_conflicts import Measures
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.units import BLOCKS, Units

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
