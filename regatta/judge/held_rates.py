"""The rate that each contender of a matched load holds, how these compare, and latency up to
there.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.judge.columns import AgainstBest
from regatta.judge.contrast import outward
from regatta.judge.estimates import CLIENT_BOUND, MEASURED, Estimate, percentiles_ms
from regatta.judge.grouping import group, titles
from regatta.judge.standings import FAILED, LARGER, NO_DIFFERENCE, TOO_FEW, seen
from regatta.judge.statistics.autocorrelation import reach_of
from regatta.judge.statistics.percentile_comparison import FEWEST_BLOCKS
from regatta.judge.statistics.percentiles import latencies_from_samples
from regatta.judge.statistics.sign_flips import LEVEL, POWER, BlockValues
from regatta.record.cell import Cell
from regatta.record.rate_search import (
    CLIENT,
    LOWEST,
    TOLERANCE,
    Search,
    holds_nothing,
    middle,
    rates_of,
    searches,
)
from regatta.record.records import KNEE, SERVER, Probe, RaceRecord, SearchRecord

# How the rates that contenders hold compare, paired in the blocks of their searches. A search has
# few blocks, and resolves a rate to a few per cent. So Student's t of the blocks' ratios is used,
# with a spread of at least that resolution, and ends that reach to the rates that were not held.
# All pairs of all loads are one family (Bonferroni): which contender is best is seen only then.
#
# Where the client was the limit, the server may hold any rate beyond: as the best, it holds "at
# least" so many times as much, and nothing is said of how far it is behind another.

HELD = "held_rate_per_s"
CLIENT_LIMITED = "the client was its limit"
Bracket = tuple[float, float]
"""Logarithms of the highest rate that was held, and of the lowest that was not; infinite if the
client was the limit."""
Brackets = Mapping[int, Bracket]
"""By block of the search."""


def bracket(search: Search) -> Bracket:
    held = math.log(max(LOWEST, search.held))
    if search.over is None or (search.why or "").startswith(CLIENT):
        return held, math.inf
    return held, math.log(search.over)


def held_against_best(groups: Sequence[Mapping[str, Brackets]]) -> list[list[AgainstBest]]:
    """All others against the best of each group, a load; without those that hold nothing.

    `at` is the number of the group.
    """
    pairs = sum(len(list(combinations(one, 2))) for one in groups)
    return [_group(at, one, LEVEL / max(1, pairs)) for at, one in enumerate(groups)]


def _group(at: int, rates: Mapping[str, Brackets], level: float) -> list[AgainstBest]:
    ranked = sorted(
        rates, key=lambda name: -sum(held for held, _ in rates[name].values()) / len(rates[name])
    )
    return [_against(at, rates, (ranked[0], name), level) for name in ranked[1:]]


def _against(
    at: int, rates: Mapping[str, Brackets], names: tuple[str, str], level: float
) -> AgainstBest:
    best, other = (rates[name] for name in names)
    blocks = sorted(best.keys() & other.keys())
    without = AgainstBest(
        at=at,
        metric=HELD,
        side=SERVER,
        contender=names[1],
        best=names[0],
        outcome=TOO_FEW,
        blocks=len(blocks),
    )
    if len(blocks) < FEWEST_BLOCKS:
        return without
    logs = np.array([best[block][0] - other[block][0] for block in blocks])
    # How far the true ratio may be beyond the measured one, and below it.
    beyond = float(np.mean([best[block][1] - best[block][0] for block in blocks]))
    below = float(np.mean([other[block][1] - other[block][0] for block in blocks]))
    if math.isinf(below):
        return replace(without, outcome=CLIENT_LIMITED)
    free = len(blocks) - 1
    error = max(float(logs.std(ddof=1)), math.log(TOLERANCE)) / math.sqrt(len(blocks))
    reach = float(special.stdtrit(free, 1 - level / 2)) * error
    mean = float(logs.mean())
    low = mean - reach - below
    detectable = reach + below + float(special.stdtrit(free, POWER)) * error
    return replace(
        without,
        scale="ratio",
        value=outward(mean, "ratio"),
        low=outward(low, "ratio"),
        high=None if math.isinf(beyond) else outward(mean + reach + beyond, "ratio"),
        p_value=min(1.0, LEVEL / level * 2 * float(special.stdtr(free, (below - mean) / error))),
        detectable=seen(outward(detectable, "ratio")),
        outcome=LARGER if low > 0 else NO_DIFFERENCE,
    )


def worse_by(base: Sequence[Brackets], head: Brackets) -> BlockValues:
    """By block, the logarithm of how many times as much the base holds as the head.

    `base`: the same server, searched once or several times. Whoever holds all that the client can
    ask loses to nobody in that block.
    """
    blocks = sorted(set.intersection(*(set(one) for one in (*base, head))))
    found = {}
    for block in blocks:
        loss = sum(one[block][0] for one in base) / len(base) - head[block][0]
        if math.isinf(head[block][1]):
            loss = min(loss, 0.0)
        if any(math.isinf(one[block][1]) for one in base):
            loss = max(loss, 0.0)
        found[block] = loss
    return found


# The rate that each contender of a matched load holds, and its latency up to there. Each block
# searches anew, so the interval is that of the mean logarithm over blocks (autocorrelation.py). A
# search ends between a rate that is held and one that is not: the interval extends from the lower
# end of the first to the upper end of the second.

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
        return UNKNOWN, Estimate(state=UNKNOWN)
    if holds_nothing(ended):
        return NOTHING, Estimate(trials=len(ended), state=NOTHING)
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
        return [Estimate(trials=len(blocks), state=state)] * len(FRACTIONS)
    return percentiles_ms(blocks, list(FRACTIONS))


def _is_client_bound(probe: Probe) -> bool:
    return bool(probe.client and probe.client.get("client_bound"))
