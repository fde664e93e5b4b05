"""Splits a claim into the comparisons that must all hold.

Whatever the form of a claim, a comparison is of one or two quantities: a figure, its growth over
connections, or the gap between several. The first is less than the second, or equal to it; or a
single one is below or above a bound.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from regatta.record.cell import AXES
from regatta.record.inputs import (
    ABOVE,
    BECAUSE,
    BELOW,
    COMPARE,
    FALLING,
    FLAT,
    GROWTH,
    LINEAR,
    NEARER,
    SHAPES,
    SUBLINEAR,
    WIDENS,
    CellSelector,
    Claim,
    EquivalenceMargin,
    Statement,
)

LESS, EQUAL = "less", "equal"
FIGURE, POWER, FACTOR, GAP, SHARE = "figure", "power", "factor", "gap", "share"
REQUEST, ROUND, PROCESS_SUM = "request", "round", "process"
"""What a sum is taken over. A round is one request on every connection."""
PER_CONNECTIONS = {PROCESS_SUM: ROUND, REQUEST: REQUEST}
"""What sums are taken over when numbers of connections are compared, by what the published sums are
taken over: a process that serves twice the connections does twice the work."""
OVER_CONNECTIONS = (*SHAPES, GROWTH, WIDENS)


@dataclass(frozen=True)
class Term:
    """One figure that is compared: a metric of one side in one cell."""

    selector: CellSelector
    side: str
    metric: str
    per: str = ""
    """What a sum is taken over; empty: as the scope measures it."""


@dataclass(frozen=True)
class Comparison:
    label: str
    relation: str
    """`less`: the first is smaller than the second; `equal`: they differ by at most a margin;
    `below`, `above`: a single figure is below or above a bound."""
    terms: tuple[Term, ...]
    """Half for each of the two, or all for a single one compared with a number."""
    at_least: float = 1.0
    """For `less`: the second is at least this many times the first; of `share`, the share."""
    within: EquivalenceMargin = EquivalenceMargin()
    """The margin of `equal`, or the bound of a figure."""
    quantity: str = FIGURE
    """What is compared. `power`: the growth exponent over connections. `factor`: the growth from
    the fewest to the most connections. `gap`: the distance from the highest to the lowest
    figure. `share`: what `activities` are of the difference, in sampled trials."""
    activities: tuple[str, ...] = ()

    @property
    def halves(self) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
        middle = len(self.terms) // 2
        return self.terms[:middle], self.terms[middle:]


def comparisons(claim: Claim) -> list[Comparison]:
    """All comparisons, in the order of the claim, which must name its connections."""
    found: list[Comparison] = []
    for said in claim.statements:
        note = _note(said, claim.statements)
        if said.kind in OVER_CONNECTIONS:
            found += _over_connections(said, note, PER_CONNECTIONS[claim.per])
            continue
        for count in said.connections:
            found += _at(said, count, f"at {AXES['connections'].count(count)}{note}")
    return found


def _note(said: Statement, of: Sequence[Statement]) -> str:
    """Suffix that distinguishes its labels from those of the other statements."""
    words = [said.metric.replace("_", " ")] if len({other.metric for other in of}) > 1 else []
    words += [said.side] if len({other.side for other in of}) > 1 else []
    return f" ({', '.join(words)})" if words else ""


def _over_connections(said: Statement, note: str, per: str) -> Iterator[Comparison]:
    kind, counts = said.kind, said.connections

    def terms(designs: Sequence[str], counts: Sequence[int]) -> tuple[Term, ...]:
        places = [CellSelector(design, count) for count in counts for design in designs]
        return tuple(Term(place, said.side, said.metric, per) for place in places)

    if kind == GROWTH:
        where = f"growth from {counts[0]} to {counts[-1]} connections{note}"
        for first, second, relation, words in _pairs(said):
            pair = (*terms([first], counts), *terms([second], counts))
            factor = said.at_least or 1.0
            yield Comparison(f"{where}: {words}", relation, pair, factor, said.within, FACTOR)
    if kind == WIDENS:
        for steps in pairwise(counts):
            label = f"{', '.join(said.designs)} {_from(steps)}{note}: the gap widens"
            yield Comparison(label, LESS, terms(said.designs, steps), quantity=GAP)
    for design in said.designs if kind in SHAPES else ():
        if kind in (LINEAR, SUBLINEAR):
            listed = ", ".join(map(str, counts))
            label = f"{design} at {listed} connections{note}: grows {kind}ly"
            series, relation = terms([design], counts), EQUAL if kind == LINEAR else BELOW
            yield Comparison(label, relation, series, within=said.within, quantity=POWER)
            continue
        relation = EQUAL if kind == FLAT else LESS
        for steps in combinations(counts, 2) if kind == FLAT else pairwise(counts):
            label = f"{design} {_from(steps)}{note}: {kind}"
            pair = terms([design], steps[::-1] if kind == FALLING else steps)
            yield Comparison(label, relation, pair, within=said.within)


def _from(steps: tuple[int, int]) -> str:
    return "from {} to {} connections".format(*steps)


def _at(said: Statement, count: int, where: str) -> Iterator[Comparison]:
    """The comparisons at one number of connections."""

    def term(design: str, name: str = "") -> Term:
        side = name if said.kind == COMPARE else said.side
        return Term(CellSelector(design, count), side, said.metric)

    if said.kind == NEARER:
        middle, near, far = map(term, said.designs)
        gaps = (middle, near, middle, far)
        yield Comparison(f"{where}: {said.signs()}", LESS, gaps, quantity=GAP)
    elif said.kind == BECAUSE:
        pair, label = tuple(map(term, said.designs)), f"{where}: {said.signs()}"
        share = said.at_least or 0.0
        yield Comparison(label, LESS, pair, share, quantity=SHARE, activities=said.activities)
    elif said.kind in (BELOW, ABOVE):
        for design in said.designs:
            label = f"{design} {where}: {said.kind} {said.within.words()}"
            yield Comparison(label, said.kind, (term(design),), within=said.within)
    else:
        for design in said.designs if said.kind == COMPARE else ("",):
            for first, second, relation, words in _pairs(said):
                pair = tuple(term(design or name, name) for name in (first, second))
                label = f"{design} {where}: {words}".lstrip()
                factor = said.at_least or 1.0
                yield Comparison(label, relation, pair, factor, said.within)


def _pairs(said: Statement) -> Iterator[tuple[str, str, str, str]]:
    """Pairs within a group (equal) and between consecutive groups, with relation and words."""
    for group in said.groups:
        for first, second in combinations(group, 2):
            yield first, second, EQUAL, f"{first} ~ {second}"
    sign = "<" if said.at_least is None else f"× {said.at_least:g} ≤"
    for lower, upper in pairwise(said.groups):
        for first in lower:
            for second in upper:
                yield first, second, LESS, f"{first} {sign} {second}"
