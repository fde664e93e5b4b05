"""A claim: a statement about the results that a study tests, as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

ORDER, COMPARE, LINEAR, RATIO, ENGINES = "order", "compare", "linear", "ratio", "client_engines"
BOTH = "both"
ITERATIVE = "iterative"
OVER_ITERATIVE = "_over_iterative"
"""How the name of a metric ends that is a difference to the iterative server's."""
WHERE_KEYS = ("engine", "workers", "work", "load", "dialect", "rate", "idle", "slow")
EQUAL_WITHIN = 0.1


@dataclass(frozen=True)
class EquivalenceMargin:
    """How far apart two may be that a claim calls equal: the wider of the two margins."""

    share: float | None = EQUAL_WITHIN
    amount: float | None = None
    """In `unit`; of a sum that of a request."""
    unit: str = ""

    def words(self) -> str:
        """`10 % or 0.1 page faults`."""
        margins = [] if self.share is None else [f"{self.share * 100:g} %"]
        margins += [] if self.amount is None else [f"{self.amount:g} {self.unit}"]
        return " or ".join(margins)


@dataclass(frozen=True, order=True)
class CellSelector:
    """Picks a cell of the study for a claim."""

    design: str
    connections: int
    engine: str | None = None
    """The client's; None: that which the claim's cells share."""


@dataclass(frozen=True)
class Statement:
    """One thing that a claim says."""

    kind: str
    metric: str
    side: str
    """`both` where the sides are compared."""
    connections: tuple[int, ...]
    groups: tuple[tuple[str, ...], ...]
    """Names from the smallest to the largest, those of one group equal: designs (order, ratio),
    sides (compare), client engines (client_engines); empty for linear."""
    designs: tuple[str, ...]
    """Over which it is said, each alone; those of the order or the ratio."""
    at_least: float | None = None
    """How many times as large the next is."""
    within: EquivalenceMargin = EquivalenceMargin()
    """Of those that are equal, and of a shape."""

    def selectors(self) -> Iterator[CellSelector]:
        """Each cell that it is about, and the iterative server's where that is subtracted."""
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
        if self.kind == LINEAR:
            return f"{self.metric} grows linearly with the connections"
        sign = " < " if self.at_least is None else f" × {self.at_least:g} ≤ "
        return sign.join(" ~ ".join(group) for group in self.groups)


@dataclass(frozen=True)
class Claim:
    id: str
    says: str
    statements: tuple[Statement, ...]
    """All of them must hold."""
    source: str | None = None
    per: str = "process"
    """What the published figures are of: a whole `process`, or a `request`."""
    published_agrees: bool = True
    where: Mapping[str, str | int] = field(default_factory=dict)
    """What the cells must be besides: some of WHERE_KEYS."""
    process_engines: Mapping[str, str] = field(default_factory=dict)
    """By design, where whole processes are counted: its client's engine, if not the others'."""

    def selectors(self) -> list[CellSelector]:
        """Each cell that it is about, once."""
        return list(
            dict.fromkeys(
                selector for statement in self.statements for selector in statement.selectors()
            )
        )
