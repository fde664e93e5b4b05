"""A claim taken apart: the comparisons of cells that must all come out as it says."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from regatta.ledger.axes import AXES
from regatta.ledger.given.claim import (
    COMPARE,
    ENGINES,
    LINEAR,
    CellSelector,
    Claim,
    EquivalenceMargin,
    Statement,
)

LESS, EQUAL, GROWS = "less", "equal", "grows"


@dataclass(frozen=True)
class Term:
    """One figure that is compared: a metric of one side in one cell."""

    selector: CellSelector
    side: str
    metric: str


@dataclass(frozen=True)
class Comparison:
    label: str
    relation: str
    """`less`: the first is smaller; `equal`: neither is, by more than a margin; `grows`: in
    proportion to connections."""
    terms: tuple[Term, ...]
    """Two; where something grows one for each number of connections."""
    at_least: float = 1.0
    """Of `less`: how many times the first the second is."""
    within: EquivalenceMargin = EquivalenceMargin()
    """Of `equal` and `grows`: the margin."""


def comparisons(claim: Claim) -> list[Comparison]:
    """All of them, in the order of the claim."""
    found: list[Comparison] = []
    several = len({statement.metric for statement in claim.statements}) > 1
    for statement in claim.statements:
        note = f" ({statement.metric.replace('_', ' ')})" if several else ""
        found += _of_statement(statement, note)
    return found


def _of_statement(statement: Statement, note: str) -> Iterator[Comparison]:
    if statement.kind == LINEAR:
        yield from _growth(statement, note)
        return
    for connections in statement.connections:
        where = f"at {AXES['connections'].count(connections)}"
        if statement.kind in (COMPARE, ENGINES):
            for design in statement.designs:
                yield from _chain(statement, connections, design, f"{design} {where}{note}")
        else:
            yield from _chain(statement, connections, None, f"{where}{note}")


def _growth(statement: Statement, note: str) -> Iterator[Comparison]:
    counts = ", ".join(str(count) for count in statement.connections)
    for design in statement.designs:
        terms = (
            Term(CellSelector(design, count), statement.side, statement.metric)
            for count in statement.connections
        )
        label = f"{design} at {counts} connections{note}: grows linearly"
        yield Comparison(label, GROWS, tuple(terms), within=statement.within)


def _chain(
    statement: Statement, connections: int, design: str | None, where: str
) -> Iterator[Comparison]:
    """All pairs that are equal, and each member of a group against each of the next."""

    def term(name: str) -> Term:
        if statement.kind == COMPARE:
            return Term(CellSelector(design or "", connections), name, statement.metric)
        if statement.kind == ENGINES:
            selector = CellSelector(design or "", connections, name)
            return Term(selector, statement.side, statement.metric)
        return Term(CellSelector(name, connections), statement.side, statement.metric)

    factor = statement.at_least or 1.0
    sign = "<" if statement.at_least is None else f"× {factor:g} ≤"
    for group in statement.groups:
        for first, second in combinations(group, 2):
            pair = term(first), term(second)
            yield Comparison(f"{where}: {first} ~ {second}", EQUAL, pair, within=statement.within)
    for lower, upper in pairwise(statement.groups):
        for first in lower:
            for second in upper:
                label = f"{where}: {first} {sign} {second}"
                yield Comparison(label, LESS, (term(first), term(second)), factor)
