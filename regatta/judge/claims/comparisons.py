"""Splits a claim into the comparisons that must all hold."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from regatta.record.cell import AXES
from regatta.record.inputs import (
    ABOVE,
    BELOW,
    COMPARE,
    ENGINES,
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
FIGURE, POWER, FACTOR, GAP = "figure", "power", "factor", "gap"
REQUEST, ROUND, PROCESS_SUM = "request", "round", "process"
"""What a sum is taken over. A round is one request on every connection."""
PER_CONNECTIONS = {PROCESS_SUM: ROUND, REQUEST: REQUEST}
"""What sums are taken over when numbers of connections are compared, by what the published sums are
taken over: a process that serves twice the connections does twice the work."""


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
    """For `less`: the second is at least this many times the first."""
    within: EquivalenceMargin = EquivalenceMargin()
    """The margin of `equal`, or the bound of a figure."""
    quantity: str = FIGURE
    """What is compared. `power`: the growth exponent over connections. `factor`: the growth from
    the fewest to the most connections. `gap`: the distance from the highest to the lowest
    figure."""

    @property
    def halves(self) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
        middle = len(self.terms) // 2
        return self.terms[:middle], self.terms[middle:]


def comparisons(claim: Claim) -> list[Comparison]:
    """All comparisons, in the order of the claim, which must name its connections."""
    found: list[Comparison] = []
    for statement in claim.statements:
        found += _of_statement(
            statement, _note(statement, claim.statements), PER_CONNECTIONS[claim.per]
        )
    return found


def _note(statement: Statement, of: Iterable[Statement]) -> str:
    """Suffix that distinguishes its labels from those of the other statements."""
    others = list(of)
    words = [statement.metric.replace("_", " ")] if len({one.metric for one in others}) > 1 else []
    words += [statement.side] if len({one.side for one in others}) > 1 else []
    return f" ({', '.join(words)})" if words else ""


def _of_statement(statement: Statement, note: str, per: str) -> Iterator[Comparison]:
    if statement.kind in SHAPES:
        for design in statement.designs:
            yield from _shape(statement, design, note, per)
    elif statement.kind == GROWTH:
        yield from _growth(statement, note, per)
    elif statement.kind == WIDENS:
        yield from _widening(statement, note, per)
    else:
        for connections in statement.connections:
            where = f"at {AXES['connections'].count(connections)}{note}"
            yield from _at(statement, connections, where)


def _at(statement: Statement, connections: int, where: str) -> Iterator[Comparison]:
    """The comparisons at one number of connections."""
    if statement.kind == NEARER:
        yield _nearer(statement, connections, where)
    elif statement.kind in (COMPARE, ENGINES):
        for design in statement.designs:
            yield from _chain(statement, connections, design, f"{design} {where}")
    elif statement.kind in (BELOW, ABOVE):
        for design in statement.designs:
            label = f"{design} {where}: {statement.kind} {statement.within.words()}"
            term = _term(statement, design, connections)
            yield Comparison(label, statement.kind, (term,), within=statement.within)
    else:
        yield from _chain(statement, connections, None, where)


def _term(statement: Statement, design: str, connections: int, per: str = "") -> Term:
    return Term(CellSelector(design, connections), statement.side, statement.metric, per)


def _terms(statement: Statement, design: str, per: str) -> tuple[Term, ...]:
    """One design at all numbers of connections."""
    return tuple(_term(statement, design, count, per) for count in statement.connections)


def _shape(statement: Statement, design: str, note: str, per: str) -> Iterator[Comparison]:
    terms = _terms(statement, design, per)
    if statement.kind in (LINEAR, SUBLINEAR):
        counts = ", ".join(str(count) for count in statement.connections)
        label = f"{design} at {counts} connections{note}: grows {statement.kind}ly"
        relation = EQUAL if statement.kind == LINEAR else BELOW
        yield Comparison(label, relation, terms, within=statement.within, quantity=POWER)
        return
    relation = EQUAL if statement.kind == FLAT else LESS
    for pair in combinations(terms, 2) if statement.kind == FLAT else pairwise(terms):
        low, high = (term.selector.connections for term in pair)
        label = f"{design} from {low} to {high} connections{note}: {statement.kind}"
        ordered = pair[::-1] if statement.kind == FALLING else pair
        yield Comparison(label, relation, ordered, within=statement.within)


def _growth(statement: Statement, note: str, per: str) -> Iterator[Comparison]:
    counts = statement.connections
    where = f"growth from {counts[0]} to {counts[-1]} connections{note}"
    for first, second, relation, sign in _pairs(statement):
        terms = (*_terms(statement, first, per), *_terms(statement, second, per))
        label = f"{where}: {first} {sign} {second}"
        factor = statement.at_least or 1.0
        yield Comparison(label, relation, terms, factor, statement.within, FACTOR)


def _widening(statement: Statement, note: str, per: str) -> Iterator[Comparison]:
    names = ", ".join(statement.designs)
    for low, high in pairwise(statement.connections):
        terms = (
            _term(statement, design, count, per)
            for count in (low, high)
            for design in statement.designs
        )
        label = f"{names} from {low} to {high} connections{note}: the gap widens"
        yield Comparison(label, LESS, tuple(terms), quantity=GAP)


def _nearer(statement: Statement, connections: int, where: str) -> Comparison:
    one, near, far = (_term(statement, design, connections) for design in statement.designs)
    label = f"{where}: {statement.signs()}"
    return Comparison(label, LESS, (one, near, one, far), quantity=GAP)


def _pairs(statement: Statement) -> Iterator[tuple[str, str, str, str]]:
    """Pairs within a group (equal) and between consecutive groups, with relation and sign."""
    for group in statement.groups:
        for first, second in combinations(group, 2):
            yield first, second, EQUAL, "~"
    sign = "<" if statement.at_least is None else f"× {statement.at_least:g} ≤"
    for lower, upper in pairwise(statement.groups):
        for first in lower:
            for second in upper:
                yield first, second, LESS, sign


def _chain(
    statement: Statement, connections: int, design: str | None, where: str
) -> Iterator[Comparison]:
    def term(name: str) -> Term:
        if statement.kind == COMPARE:
            return Term(CellSelector(design or "", connections), name, statement.metric)
        if statement.kind == ENGINES:
            selector = CellSelector(design or "", connections, name)
            return Term(selector, statement.side, statement.metric)
        return _term(statement, name, connections)

    for first, second, relation, sign in _pairs(statement):
        pair, factor = (term(first), term(second)), 1.0
        if relation == LESS:
            factor = statement.at_least or 1.0
        label = f"{where}: {first} {sign} {second}"
        yield Comparison(label, relation, pair, factor, statement.within)
