"""Which designs a place favours, by rules that are told with the answer.

1. Out is who did not serve: failed, was never measured because the client set the pace, or, at an
   offered rate, answered clearly less than was asked.
2. Out is who makes clients wait: its p99 is clearly more than twice the best p99 of the place.
   Server CPU says nothing of a server that serves one client after the other while it waits.
3. The others by server CPU per request: the least, and up to two more that cannot be told from it
   or are next. Of a pool in several sizes the best one stands for it.
"Clearly" means: by their 95 % intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

from regatta.advise.evidence import Measured, Place, against
from regatta.advise.situation import Situation
from regatta.analysis.contrast import Contrast

MOST_WAITING = 2.0
KEEPS_UP = 0.95
MOST = 3
FAR_BEHIND = 1.5
"""A third that needs clearly more than this many times the best one's CPU is no advice."""


@dataclass(frozen=True)
class Favoured:
    measured: Measured
    against_best: Contrast | None
    """Its server CPU per request / the best one's; None for the best, or with too few blocks."""

    @property
    def undecided(self) -> bool:
        """It may be as good as the best."""
        if self.against_best is None:
            return False
        low, high = self.against_best.interval()
        return low <= 1 <= high


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
    best_p99 = min(
        (one for one in serving if one.p99.value is not None),
        key=lambda one: one.p99.value or 0.0,
        default=None,
    )
    quick: list[Measured] = []
    for one in serving:
        if best_p99 is not None and _waits(one, best_p99):
            why = f"its p99 is {one.p99.value:.3g} ms, that of {best_p99.design} "
            left_out.append((one.design, f"{why}{best_p99.p99.value:.3g} ms"))
        else:
            quick.append(one)
    ordered = sorted(quick, key=lambda one: one.cpu.value or 0.0)
    each = list({one.design: one for one in reversed(ordered)}.values())[::-1]
    kept = {one.design for one in each}
    return Ranking(
        place,
        _favoured(each),
        [(name, why) for name, why in dict(left_out).items() if name not in kept],
    )


def _favoured(ordered: list[Measured]) -> list[Favoured]:
    if not ordered:
        return []
    found = [Favoured(ordered[0], None)]
    for one in ordered[1:MOST]:
        contrast = against(ordered[0], one)
        third = len(found) == MOST - 1
        if third and contrast is not None and contrast.interval()[0] > FAR_BEHIND:
            break
        found.append(Favoured(one, contrast))
    return found


def _does_not_serve(situation: Situation, one: Measured) -> str:
    if one.failed is not None:
        return f"every trial of it failed: {one.failed}"
    if one.cpu.value is None:
        return f"not measured: {one.cpu.state}"
    rate, answered = one.cell.rate, one.throughput
    top = answered.value if answered.high is None else answered.high
    if situation.rate is not None and rate and top is not None and top < KEEPS_UP * rate:
        return f"it answered {answered.value:,.0f} of {rate:,} requests/s"
    return ""


def _waits(one: Measured, best: Measured) -> bool:
    if one is best or one.p99.value is None or best.p99.value is None:
        return False
    low = one.p99.value if one.p99.low is None else one.p99.low
    high = best.p99.value if best.p99.high is None else best.p99.high
    return low > MOST_WAITING * high
