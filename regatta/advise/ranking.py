"""Which designs a place favours, by rules that are told with the answer.

1. Out is who did not serve: failed, was never measured because the client set the pace, or, at an
   offered rate, answered clearly less than was asked.
2. Out is who makes clients wait: its p50 or p99 is clearly more than twice the best of the place.
   Server CPU says nothing of a server that serves one client after the other while it waits.
3. The others by server CPU per request: the least, and up to two more that cannot be told from it
   or are next. Of a pool in several sizes the best one stands for it.
"Clearly" means: by their 95 % intervals; in rule 3 after Holm's correction over all pairs: the best
was chosen by the figures that it is then compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from regatta.advise.evidence import Measured, Place, against
from regatta.advise.situation import Situation
from regatta.analysis.contrast import Contrast
from regatta.analysis.estimates import CLIENT_BOUND, DISTURBED, Estimate
from regatta.analysis.holm import Decision, holm

MOST_WAITING = 2.0
KEEPS_UP = 0.95
MOST = 3
LEVEL = 0.05
FAR_BEHIND = 1.5
"""A third that needs clearly more than this many times the best one's CPU is no advice."""


@dataclass(frozen=True)
class Favoured:
    measured: Measured
    against_best: Contrast | None
    """Its server CPU per request / the best one's; None for the best, or with too few blocks."""

    decision: Decision | None = None
    """Of that comparison, as one of all pairs of the place."""

    @property
    def undecided(self) -> bool:
        """It may be as good as the best."""
        return self.decision is not None and not self.decision.rejected

    @property
    def level(self) -> float:
        """The interval of that comparison is drawn at 1 - level."""
        return LEVEL if self.decision is None else self.decision.level


@dataclass(frozen=True)
class Ranking:
    place: Place
    favoured: list[Favoured]
    left_out: list[tuple[str, str]]
    """Design and why, in words."""

    @property
    def rivals(self) -> list[Favoured]:
        """Those that more trials would tell from the best: who is undecided, else the next."""
        open_ones = [one for one in self.favoured[1:] if one.undecided or not one.against_best]
        return open_ones or self.favoured[1:2]


def rank(situation: Situation, place: Place) -> Ranking:
    left_out: list[tuple[str, str]] = []
    serving: list[Measured] = []
    for one in place.measured:
        why = _does_not_serve(situation, one)
        if why:
            left_out.append((one.design, why))
        else:
            serving.append(one)
    quick: list[Measured] = []
    for one in serving:
        why = _waits(one, serving)
        if why:
            left_out.append((one.design, why))
        else:
            quick.append(one)
    ordered = sorted(quick, key=lambda one: one.cpu.value or 0.0)
    each: dict[str, Measured] = {}
    for one in ordered:
        each.setdefault(one.design, one)
    return Ranking(
        place,
        _favoured(list(each.values()), _pairs(ordered)),
        [(name, why) for name, why in dict(left_out).items() if name not in each],
    )


Pairs = dict[tuple[int, int], tuple[Contrast, Decision]]
"""By the ids of two cells, the one with less server CPU first."""


def _pairs(ordered: list[Measured]) -> Pairs:
    """All pairs, the sizes of a pool too: each might have been the one that is shown."""
    compared = {
        (first.cell.id, second.cell.id): contrast
        for first, second in combinations(ordered, 2)
        if (contrast := against(first, second)) is not None
    }
    decisions = holm([contrast.p_value() for contrast in compared.values()], LEVEL)
    return {
        key: (contrast, decision)
        for (key, contrast), decision in zip(compared.items(), decisions, strict=True)
    }


def _favoured(ordered: list[Measured], pairs: Pairs) -> list[Favoured]:
    if not ordered:
        return []
    found = [Favoured(ordered[0], None)]
    for measured in ordered[1:MOST]:
        pair = pairs.get((ordered[0].cell.id, measured.cell.id))
        one = Favoured(measured, *pair) if pair else Favoured(measured, None)
        third = len(found) == MOST - 1
        if third and pair and pair[0].interval(one.level)[0] > FAR_BEHIND:
            break
        found.append(one)
    return found


def _does_not_serve(situation: Situation, one: Measured) -> str:
    if one.failed is not None:
        return f"every trial of it failed: {one.failed}"
    if one.cpu.value is None or one.cpu.state in (CLIENT_BOUND, DISTURBED):
        return f"not measured: {one.cpu.state}"
    rate, answered = one.cell.rate, one.throughput
    top = answered.value if answered.high is None else answered.high
    if situation.rate is not None and rate and top is not None and top < KEEPS_UP * rate:
        return f"it answered {answered.value:,.0f} of {rate:,} requests/s"
    return ""


def _waits(one: Measured, others: list[Measured]) -> str:
    """Why it is out; empty if it is as quick as the best, or nearly."""
    kinds: tuple[tuple[str, Callable[[Measured], Estimate]], ...] = (
        ("p50", lambda each: each.p50),
        ("p99", lambda each: each.p99),
    )
    for name, of in kinds:
        best = min(others, key=lambda each: _least(of(each)))
        mine, theirs = of(one), of(best)
        low = mine.value if mine.low is None else mine.low
        high = theirs.value if theirs.high is None else theirs.high
        if low is None or theirs.value is None or high is None or best is one:
            continue
        if low > MOST_WAITING * high:
            own = f"over {low:.3g}" if mine.value is None else f"{mine.value:.3g}"
            return f"its {name} is {own} ms, that of {best.design} {theirs.value:.3g} ms"
    return ""


def _least(estimate: Estimate) -> float:
    return math.inf if estimate.value is None else estimate.value
