"""The rate that each contender of a matched load holds, and its latency up to there.

Each block searches anew, so the interval is that of the mean logarithm over blocks
(autocorrelation.py). A search ends between a rate that is held and one that is not: the interval
extends from the lower end of the first to the upper end of the second.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regatta.analysis.columns import AgainstBest
from regatta.analysis.estimates import CLIENT_BOUND, MEASURED, Estimate, percentiles_ms
from regatta.analysis.grouping import group, titles
from regatta.analysis.held_ratios import Brackets, bracket, held_against_best
from regatta.analysis.standings import FAILED
from regatta.analysis.statistics.autocorrelation import reach_of
from regatta.analysis.statistics.request_latencies import latencies_from_samples
from regatta.ledger.cell import Cell
from regatta.ledger.probe import KNEE, Probe
from regatta.ledger.rate_search import CLIENT, Search, holds_nothing, middle, rates_of, searches
from regatta.ledger.records import RaceRecord, SearchRecord

HOLDS, AT_LEAST, NOTHING, UNKNOWN = "holds", "holds at least", "holds nothing", "not known yet"
FRACTIONS = (0.5, 0.99)


@dataclass(frozen=True)
class Point:
    """The latency at one share of the held rate."""

    share: float
    rate: int
    blocks: int
    """Blocks that probed it; `trials` of the estimates may be fewer."""
    p50: Estimate
    """In ms, like `p99`."""
    p99: Estimate


@dataclass(frozen=True)
class HeldRate:
    """The held rate of one contender."""

    cell: Cell
    state: str
    rate: Estimate
    """Requests a second; `trials` counts blocks."""
    why: str
    """Why it holds no higher rate, from the last block that gives a reason."""
    knee: list[Point]
    brackets: Brackets
    """Of each block's search."""
    apart: float = 1.0
    """How many times as high the highest rate of its searches is as the lowest."""


@dataclass(frozen=True)
class HeldGroup:
    """Contenders that were searched under the same load."""

    title: str
    p99_limit_ms: float
    members: list[HeldRate]
    against: list[AgainstBest]
    """Those that hold some rate against the one that holds most; all groups are one family."""

    @property
    def kneed(self) -> list[HeldRate]:
        return [one for one in self.members if one.knee]


def held_groups(ledger: RaceRecord) -> list[HeldGroup]:
    """In the order of the study, contenders in theirs."""
    blocks = _blocks(ledger)
    known = {search.cell.id: search for search in ledger.searches}
    found = {number: _held_rate(search, blocks) for number, search in known.items()}
    grouped = group([search.cell for search in ledger.searches])
    steps = [
        (f"{members.axis.count(step)}, {title}", members.at(step))
        for members, title in zip(grouped, titles(grouped), strict=True)
        for step in members.steps
    ]
    groups = [
        [found[cell.id] for cell in sorted(cells, key=lambda cell: cell.contender_order)]
        for _, cells in steps
    ]
    rates = [
        {one.cell.contender: one.brackets for one in of if one.rate.value is not None}
        for of in groups
    ]
    return [
        HeldGroup(title, known[members[0].cell.id].cell.p99_limit_ms, members, against)
        for (title, _), members, against in zip(
            steps, groups, held_against_best(rates), strict=True
        )
    ]


def _blocks(ledger: RaceRecord) -> int:
    planned = (probe.planned for search in ledger.searches for probe in search.probes)
    return max((one.block for one in planned), default=0)


def _held_rate(search: SearchRecord, blocks: int) -> HeldRate:
    block_searches = searches(search.cell.id, search.probes, blocks)
    ended = [one for one in block_searches if one.next_rate() is None]
    state, rate = _rate(ended)
    reasons = [one.why for one in ended if one.why]
    if state == AT_LEAST:
        reasons = [why for why in reasons if why.startswith(CLIENT)]
    brackets = {
        block: bracket(one)
        for block, one in enumerate(block_searches, start=1)
        if one.next_rate() is None
    }
    rates, why = rates_of(ended) or [1], reasons[-1] if reasons else ""
    apart = max(rates) / min(rates)
    return HeldRate(search.cell, state, rate, why, _knee(search.probes), brackets, apart)


def _rate(ended: Sequence[Search]) -> tuple[str, Estimate]:
    if not ended:
        return UNKNOWN, Estimate(None, None, None, 0, UNKNOWN)
    if holds_nothing(ended):
        return NOTHING, Estimate(None, None, None, len(ended), NOTHING)
    # If the server was not the limit in one block, the rate has no upper bound.
    open_above = any(one.over is None or (one.why or "").startswith(CLIENT) for one in ended)
    value = middle(ended)
    low = _ends(rates_of(ended))[0]
    high = None if open_above else _ends([one.over or one.held for one in ended])[1]
    state = AT_LEAST if open_above else HOLDS
    return state, Estimate(value, low, high, len(ended), MEASURED)


def _ends(rates: Sequence[int]) -> tuple[float | None, float | None]:
    """The ends of the interval of their geometric mean."""
    logs = np.log(np.array(rates, dtype=np.float64))
    reach = reach_of(logs)
    if reach is None:
        return None, None
    mean = float(logs.mean())
    return math.exp(mean - reach), math.exp(mean + reach)


def _knee(probes: Sequence[Probe]) -> list[Point]:
    by_share: dict[tuple[float, int], list[Probe]] = {}
    for probe in probes:
        share = probe.planned.share
        if probe.planned.kind == KNEE and share is not None:
            by_share.setdefault((share, probe.planned.rate), []).append(probe)
    return [
        Point(share, rate, len(knee_probes), *_point(knee_probes))
        for (share, rate), knee_probes in sorted(by_share.items())
    ]


def _point(probes: Sequence[Probe]) -> list[Estimate]:
    """Without a value if fewer than half of the blocks have one."""
    blocks = [
        latencies_from_samples(probe.samples, (probe.client or {}).get("unstarted", 0))
        for probe in probes
        # A client-bound latency is not the server's.
        if probe.samples and not _is_client_bound(probe)
    ]
    if 2 * len(blocks) < len(probes):
        client_bound = sum(map(_is_client_bound, probes))
        state = CLIENT_BOUND if 2 * client_bound > len(probes) else FAILED
        return [Estimate(None, None, None, len(blocks), state)] * len(FRACTIONS)
    return percentiles_ms(blocks, list(FRACTIONS))


def _is_client_bound(probe: Probe) -> bool:
    return bool(probe.client and probe.client.get("client_bound"))
