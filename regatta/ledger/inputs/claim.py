"""A claim: a statement about the results that a study tests, as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

ORDER, RATIO, COMPARE, ENGINES = "order", "ratio", "compare", "client_engines"
GROWTH, WIDENS, NEARER, BELOW, ABOVE = "growth", "widens", "nearer", "below", "above"
LINEAR, SUBLINEAR, RISING, FALLING, FLAT = "linear", "sublinear", "rising", "falling", "flat"
SHAPES = (LINEAR, SUBLINEAR, RISING, FALLING, FLAT)
"""The kinds of statements. A shape describes how a metric changes with the connections."""
BOTH = "both"
ITERATIVE = "iterative"
OVER_ITERATIVE = "_over_iterative"
"""Suffix of metrics that are differences from the iterative server."""
WHERE_KEYS = ("engine", "workers", "work", "load", "dialect", "rate", "idle", "slow", "backlog")
EQUAL_WITHIN = 0.1


@dataclass(frozen=True)
class EquivalenceMargin:
    """How far apart two equal figures may be: the wider of the two margins.

    For `below` and `above`, `amount` is the bound.
    """

    share: float | None = EQUAL_WITHIN
    amount: float | None = None
    """In `unit`; per request for sums."""
    unit: str = ""

    def words(self) -> str:
        """`10 % or 0.1 page faults`."""
        margins = [] if self.share is None else [f"{self.share * 100:g} %"]
        margins += [] if self.amount is None else [f"{self.amount:g} {self.unit}".strip()]
        return " or ".join(margins)


@dataclass(frozen=True, order=True)
class CellSelector:
    """Picks a cell of the study for a claim."""

    design: str
    connections: int
    engine: str | None = None
    """The client's engine; None: the one that the claim's cells share."""


@dataclass(frozen=True)
class Statement:
    """One statement of a claim."""

    kind: str
    metric: str
    side: str
    """`both` if the sides are compared."""
    connections: tuple[int, ...]
    """Empty: all of the study."""
    groups: tuple[tuple[str, ...], ...]
    """Names from the smallest to the largest, those of one group equal: designs (order, ratio,
    growth), sides (compare), client engines (client_engines). The designs of `nearer` and `widens`,
    each alone; empty for shapes, below and above."""
    designs: tuple[str, ...]
    """The statement must hold for each of these; if the groups are designs, their members."""
    at_least: float | None = None
    """How many times as large the next is."""
    within: EquivalenceMargin = EquivalenceMargin()
    """The margin of equality or of a shape; the bound of `below` and `above`."""

    def selectors(self) -> Iterator[CellSelector]:
        """The cells that it needs, with the iterative server's if that is subtracted."""
        engines: list[str | None] = [None]
        if self.kind == ENGINES:
            engines = [engine for group in self.groups for engine in group]
        designs = list(self.designs)
        if self.metric.endswith(OVER_ITERATIVE) and ITERATIVE not in designs:
            designs.append(ITERATIVE)
        for count in self.connections:
            for design in designs:
                for engine in engines:
                    yield CellSelector(design, count, engine)

    def signs(self) -> str:
        """`select < iterative ~ thread-per-client`."""
        names = [" ~ ".join(group) for group in self.groups]
        if self.kind in SHAPES:
            return f"{self.metric}: {self.kind} with the connections"
        if self.kind in (BELOW, ABOVE):
            return f"{self.metric} {'<' if self.kind == BELOW else '>'} {self.within.words()}"
        if self.kind == NEARER:
            return "{} nearer to {} than to {}".format(*names)
        if self.kind == WIDENS:
            return f"the gap of {', '.join(names)} widens"
        sign = " < " if self.at_least is None else f" × {self.at_least:g} ≤ "
        return f"{'growth: ' if self.kind == GROWTH else ''}{sign.join(names)}"


@dataclass(frozen=True)
class Claim:
    id: str
    says: str
    statements: tuple[Statement, ...]
    """All of them must hold."""
    said_at: str = ""
    """Where its source says so, in words."""
    note: str = ""
    """Ambiguities, misprints and interpretations."""
    source: str | None = None
    per: str = "process"
    """Whether the published figures are per `process` or per `request`."""
    published_agrees: bool = True
    where: Mapping[str, str | int] = field(default_factory=dict)
    """Further conditions on the cells: some of WHERE_KEYS."""
    process_engines: Mapping[str, str] = field(default_factory=dict)
    """For whole processes, by design: the client's engine, if it differs from the others'."""

    def selectors(self) -> list[CellSelector]:
        """All cells that it needs, without duplicates."""
        return list(
            dict.fromkeys(
                selector for statement in self.statements for selector in statement.selectors()
            )
        )
