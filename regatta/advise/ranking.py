"""Ranks the designs of a group for a situation.

1. Exclude designs that did not serve: all or too many trials failed, the client was the bottleneck,
   or the offered rate was not held. Also those measured on the other side of a limit (limits.py).
2. Exclude designs whose p50 or p99 is clearly more than twice the best: server CPU alone would
   favour a server that makes its clients wait.
3. Rank the rest by server CPU per request: the least, and up to two more that may need as little
   or are next. A pool raced in several sizes counts with its best size.

Excluded designs that were not measured well, and do not clearly need more CPU than the recommended
ones, are listed: they may need less.

"Clearly" means by 95 % intervals; in rule 3 by simultaneous comparisons with the best
(statistics/comparisons_with_best.py), because the best is chosen by the figures being compared.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from regatta.advise.evidence import MeasuredDesign, MeasuredGroup
from regatta.advise.limits import crossed
from regatta.advise.situation import Situation
from regatta.analysis.columns import AgainstBest, Column, against_best, confirmed
from regatta.analysis.estimates import CLIENT_BOUND, DISTURBED, Estimate
from regatta.analysis.standings import LARGER, UNCONFIRMED, Entry, verdicts
from regatta.analysis.statistics.units import Units
from regatta.ledger.metrics import PRIMARY
from regatta.report.text.trials import share_words

MOST_WAITING = 2.0
KEEPS_UP = 0.95
MOST = 3
LIMITED = (CLIENT_BOUND, DISTURBED)
"""States in which the figures depend on the client rather than the server."""
FAR_BEHIND = 1.5
"""A third design that clearly needs more CPU than this many times the best is not shown."""


@dataclass(frozen=True)
class Favoured:
    measured: MeasuredDesign
    against_best: AgainstBest | None
    """Server CPU per request against the best of the others; None for the best."""

    @property
    def undecided(self) -> bool:
        """Whether it may be as good as the best."""
        return self.against_best is not None and self.against_best.outcome != LARGER

    @property
    def unconfirmed(self) -> bool:
        """Whether busy time does not show the best's lead; more blocks do not change that."""
        return self.against_best is not None and self.against_best.outcome == UNCONFIRMED


@dataclass(frozen=True)
class Ranking:
    group: MeasuredGroup
    favoured: list[Favoured]
    left_out: list[tuple[str, str]]
    """Design and reason."""
    may_need_less: list[tuple[str, str]]
    """Excluded designs that may be the best, and why they were not measured."""

    @property
    def rivals(self) -> list[Favoured]:
        """The designs to distinguish from the best: those that more blocks can decide, else the
        next."""
        others = [one for one in self.favoured[1:] if not one.unconfirmed]
        return [one for one in others if one.undecided] or others[:1] or self.favoured[1:2]


def rank(situation: Situation, group: MeasuredGroup) -> Ranking:
    left_out: list[tuple[str, str]] = []
    serving: list[MeasuredDesign] = []
    for one in group.measured:
        why = _does_not_serve(situation, one) or crossed(situation, one, group)
        if why:
            left_out.append((one.design, why))
        else:
            serving.append(one)
    quick: list[MeasuredDesign] = []
    for one in serving:
        why = _waits(one, serving)
        if why:
            left_out.append((one.design, why))
        else:
            quick.append(one)
    favoured = _favoured(quick, group.units)
    named = {one.measured.design for one in favoured}
    rivals = {
        one.design: why
        for one in group.measured
        if (why := _unknown(one)) and not crossed(situation, one, group)
        if not any(_costs_more(one, other.measured) for other in favoured)
    }
    return Ranking(
        group,
        _shown(favoured),
        [(name, why) for name, why in dict(left_out).items() if name not in named],
        [(name, why) for name, why in rivals.items() if name not in named],
    )


def _favoured(measured: list[MeasuredDesign], units: Units) -> list[Favoured]:
    """Ranks all cells as one family, including each size of a pool."""
    by_id = {str(one.cell.id): one for one in measured}
    column = Column(
        0,
        PRIMARY,
        {number: one.cpu.value or 0.0 for number, one in by_id.items()},
        {number: one.blocks for number, one in by_id.items()},
    )
    entries = {number: Entry(one.blocks, busy=one.busy) for number, one in by_id.items()}
    decided = verdicts({column.at: entries}, units)
    against = confirmed(against_best([column], decided.standing_of, units), decided)
    compared = {one.contender: one for one in against}
    found: list[Favoured] = []
    # The best is not in `compared`.
    for number in sorted(by_id, key=lambda number: (number in compared, column.figures[number])):
        one = Favoured(by_id[number], compared.get(number))
        if all(one.measured.design != other.measured.design for other in found):
            found.append(one)
    return found


def _shown(favoured: list[Favoured]) -> list[Favoured]:
    last = favoured[MOST - 1 : MOST]
    far = last and last[0].against_best and (last[0].against_best.low or 0.0) > FAR_BEHIND
    return favoured[: MOST - 1] if far else favoured[:MOST]


def _does_not_serve(situation: Situation, one: MeasuredDesign) -> str:
    if one.failed is not None:
        return f"every trial failed: {one.failed}"
    if one.failing:
        return f"it {one.failing}"
    if one.cpu.value is None or one.cpu.state in LIMITED:
        return f"not measured: {one.cpu.state}"
    if late := share_words(one.started):
        return f"it {late}"
    rate, answered = one.cell.rate, one.throughput
    top = answered.value if answered.high is None else answered.high
    if situation.rate is not None and rate and top is not None and top < KEEPS_UP * rate:
        return f"it answered {answered.value:,.0f} of {rate:,} requests/s"
    return ""


def _unknown(one: MeasuredDesign) -> str:
    """Why it was not measured well; empty if it was."""
    if one.failing:
        return one.failing
    if one.cpu.state in LIMITED:
        return f"was {one.cpu.state}"
    return "was not measured" if one.cpu.value is None else ""


def _costs_more(one: MeasuredDesign, other: MeasuredDesign) -> bool:
    """Clearly, also if the client was the bottleneck: that only makes requests cheaper."""
    low, high = one.cpu.low, other.cpu.high
    return low is not None and high is not None and low > high


def _waits(one: MeasuredDesign, others: list[MeasuredDesign]) -> str:
    """Why its latency excludes it; empty if it does not."""
    kinds: tuple[tuple[str, Callable[[MeasuredDesign], Estimate]], ...] = (
        ("p50", lambda each: each.p50),
        ("p99", lambda each: each.p99),
    )
    for name, of in kinds:
        best = min(others, key=lambda each: _most(of(each)))
        mine, theirs = of(one), of(best)
        low = mine.value if mine.low is None else mine.low
        if low is None or theirs.value is None or best is one:
            continue
        if low > MOST_WAITING * _most(theirs):
            latency = f"over {low:.3g}" if mine.value is None else f"{mine.value:.3g}"
            return f"its {name} is {latency} ms, that of {best.design} {theirs.value:.3g} ms"
    return ""


def _most(estimate: Estimate) -> float:
    """The upper end of its interval, or infinity if it is unknown."""
    if estimate.value is None or (estimate.high is None and estimate.low is not None):
        return math.inf
    return estimate.value if estimate.high is None else estimate.high
