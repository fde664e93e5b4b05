"""The rate that each contender of a matched load holds, how these compare, and latency up to
there.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    pairs = sum(math.comb(len(rates), 2) for rates in groups)
    found = []
    for at, rates in enumerate(groups):
        means = {
            name: sum(held for held, _ in brackets.values()) / len(brackets)
            for name, brackets in rates.items()
        }
        best, *others = sorted(means, key=lambda name: -means[name]) or [""]
        found.append([_against(at, rates, (best, name), LEVEL / max(1, pairs)) for name in others])
    return found


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
    beyond, below = (
        float(np.mean([brackets[block][1] - brackets[block][0] for block in blocks]))
        for brackets in (best, other)
    )
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
    found = {}
    for block in sorted(set.intersection(*map(set, (*base, head)))):
        loss = sum(brackets[block][0] for brackets in base) / len(base) - head[block][0]
        if math.isinf(head[block][1]):
            loss = min(loss, 0.0)
        if any(math.isinf(brackets[block][1]) for brackets in base):
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
    cell: Cell
    state: str
    rate: Estimate
    """Requests a second; `trials` counts blocks."""
    why: str
    """Why it holds no higher rate, from the last block that gives a reason."""
    knee: list[Point]
    brackets: Brackets
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
        return [member for member in self.members if member.knee]


def held_groups(ledger: RaceRecord) -> list[HeldGroup]:
    """In the order of the study, contenders in theirs."""
    planned = (probe.planned for search in ledger.searches for probe in search.probes)
    blocks = max((plan.block for plan in planned), default=0)
    known = {search.cell.id: search for search in ledger.searches}
    found = {number: _held_rate(search, blocks) for number, search in known.items()}
    grouped = group([search.cell for search in ledger.searches])
    loads = [
        (f"{members.axis.count(step)}, {title}", members.at(step))
        for members, title in zip(grouped, titles(grouped), strict=True)
        for step in members.steps
    ]
    groups = [
        [found[cell.id] for cell in sorted(cells, key=lambda cell: cell.contender_order)]
        for _, cells in loads
    ]
    against = held_against_best(
        [
            {held.cell.contender: held.brackets for held in of if held.rate.value is not None}
            for of in groups
        ]
    )
    return [
        HeldGroup(title, known[cells[0].id].cell.p99_limit_ms, members, of_load)
        for (title, cells), members, of_load in zip(loads, groups, against, strict=True)
    ]


def _held_rate(search: SearchRecord, blocks: int) -> HeldRate:
    in_blocks = enumerate(searches(search.cell.id, search.probes, blocks), start=1)
    ended = {block: of for block, of in in_blocks if of.next_rate() is None}
    state, rate = _rate(list(ended.values()))
    reasons = [of.why for of in ended.values() if of.why]
    if state == AT_LEAST:
        reasons = [why for why in reasons if why.startswith(CLIENT)]
    rates = rates_of(list(ended.values())) or [1]
    return HeldRate(
        search.cell,
        state,
        rate,
        why=reasons[-1] if reasons else "",
        knee=_knee(search.probes),
        brackets={block: bracket(of) for block, of in ended.items()},
        apart=max(rates) / min(rates),
    )


def _rate(ended: Sequence[Search]) -> tuple[str, Estimate]:
    if not ended:
        return UNKNOWN, Estimate(state=UNKNOWN)
    if holds_nothing(ended):
        return NOTHING, Estimate(trials=len(ended), state=NOTHING)
    # If the server was not the limit in one block, the rate has no upper bound.
    open_above = any(math.isinf(bracket(search)[1]) for search in ended)
    low = _ends(rates_of(ended))[0]
    high = None if open_above else _ends([search.over or search.held for search in ended])[1]
    state = AT_LEAST if open_above else HOLDS
    return state, Estimate(middle(ended), low, high, len(ended), MEASURED)


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
        latencies_from_samples(probe.samples)
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
