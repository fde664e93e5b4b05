"""Leads by charged time that busy time does not show.

Charged and busy time are two accounts of server CPU time: what was charged to the server, and all
that its CPUs did. With steered packets, charged time lacks what the kernel did for a server while
its CPU was asleep, so it can show a lead that the CPUs' busy time has no trace of. (Without, both
include the client's receive path and lack the server's own, so they may agree and be wrong.) A lead
is unconfirmed if busy time does not show it, and the two leads are shown to differ (otherwise busy
time may only be noisier), or if busy time shows the opposite.

Both are compared as differences: what else runs on the CPUs costs all that serve the same rate the
same time per request, so it cancels in a difference, but not in a ratio. For each of charged time,
busy time and the gap between them, the leads of a table are one family (joint.py).
"""

import math
from collections.abc import Mapping

from regatta.judge.statistics.joint import ABOVE, BELOW, decide_jointly
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import BLOCKS, Units

Accounts = tuple[BlockValues, BlockValues]
"""Charged and busy time per request of one contender, by block."""
Lead = tuple[int | None, str, str]
"""The step, or None over all steps; the contender with less charged time, and the other."""


def unconfirmed_leads(
    leads: Mapping[Lead, tuple[Accounts, Accounts]], units: Units = BLOCKS
) -> list[Lead]:
    """Those over contenders that are behind nobody else by a lead that stands.

    `leads`: the accounts of both, also where charged time shows no lead.
    """
    pairs = list(leads.values())
    charged, busy = (
        [_minus(more[account], less[account]) for less, more in pairs] for account in (0, 1)
    )
    if not any(busy):
        return []
    families = charged, busy, list(map(_minus, charged, busy))
    signs = [
        [
            decision.sign
            for decision in decide_jointly(list(map(units.gathered, family)), units).decisions
        ]
        for family in families
    ]
    shown = {
        lead: by_busy == BELOW or (by_busy != ABOVE and gap == ABOVE)
        for lead, by_charge, by_busy, gap in zip(leads, *signs, strict=True)
        if by_charge == ABOVE
    }
    behind = {(at, more) for (at, _, more), unconfirmed in shown.items() if not unconfirmed}
    return [lead for lead in shown if (lead[0], lead[2]) not in behind]


def _minus(values: BlockValues, others: BlockValues) -> BlockValues:
    return {block: value - others[block] for block, value in values.items() if block in others}


def log_ratios(values: BlockValues, others: BlockValues) -> BlockValues:
    """In the blocks in which both are positive."""
    return {
        block: math.log(value / others[block])
        for block, value in values.items()
        if value > 0 and others.get(block, 0.0) > 0
    }
