"""One statement of a claim, as it is written: what is compared, how, and over which cells."""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import model_validator

from regatta.ledger.cell import Cell
from regatta.ledger.given.claim import (
    ABOVE,
    BELOW,
    BOTH,
    COMPARE,
    ENGINES,
    FALLING,
    FLAT,
    GROWTH,
    LINEAR,
    NEARER,
    ORDER,
    RATIO,
    RISING,
    SHAPES,
    SUBLINEAR,
    WIDENS,
    EquivalenceMargin,
    Statement,
)
from regatta.ledger.metrics import SIDES
from regatta.study.claims.groups import Compare, Engines, Few, Groups, Order, Raced, Three, Two
from regatta.study.claims.margin import read_bound, read_within
from regatta.study.claims.metrics import METRIC_SIDES
from regatta.study.form import Form, Many, Must, one_of, wrong
from regatta.study.values import Connections

SHAPE = "shape"
KINDS = (ORDER, COMPARE, SHAPE, RATIO, ENGINES, GROWTH, WIDENS, NEARER, BELOW, ABOVE)
"""The keys of which a statement has one."""
OF_DESIGNS = (ORDER, RATIO, GROWTH, WIDENS, NEARER)
"""Whose groups are designs."""
MULTIPLES = (ORDER, COMPARE, RATIO, ENGINES, GROWTH)
"""Which may say `at_least` how many times."""
FEWEST = {LINEAR: 3, **dict.fromkeys((SUBLINEAR, RISING, FALLING, FLAT, GROWTH, WIDENS), 2)}
"""Numbers of connections that it takes to tell."""
COUNTED = {2: "two", 3: "three"}
MAX_TIMES = 1e9

Metric = Annotated[str, one_of(tuple(METRIC_SIDES))]


class StatementForm(Form):
    """One statement of a claim, as it is written."""

    metric: Metric
    side: Annotated[str, one_of(SIDES)] | None = None
    connections: Many[Connections] = ()
    """Empty: those of the study."""
    designs: Many[Raced] = ()
    order: Order = ()
    compare: Compare = ()
    shape: Annotated[str, one_of(SHAPES)] | None = None
    ratio: Two = ()
    client_engines: Engines = ()
    growth: Order = ()
    widens: Few = ()
    nearer: Three = ()
    below: Any = None
    above: Any = None
    at_least: (
        Annotated[
            float,
            Must(f"a number above 1 and up to {MAX_TIMES:g}", lambda times: 1 < times <= MAX_TIMES),
        ]
        | None
    ) = None
    within: Any = None

    @property
    def keys(self) -> list[str]:
        return [key for key in KINDS if self.has(key)]

    @property
    def kind(self) -> str:
        return self.shape or self.keys[0]

    @property
    def groups(self) -> Groups:
        """Names from the smallest to the largest; the numerator of a ratio is the larger."""
        alone = self.ratio[::-1] or self.client_engines or self.widens or self.nearer
        return self.order or self.compare or self.growth or tuple((name,) for name in alone)

    @property
    def sides(self) -> tuple[str, ...]:
        return (BOTH,) if self.compare else METRIC_SIDES[self.metric]

    def read_margin(self) -> EquivalenceMargin:
        if self.kind in (BELOW, ABOVE):
            bound = self.below if self.kind == BELOW else self.above
            return read_bound(bound, self.kind, self.metric)
        return read_within(self.within, self.kind, self.metric, self.groups)

    @model_validator(mode="after")
    def check_kind(self) -> Self:
        if len(self.keys) != 1:
            found = " and ".join(f"`{key}`" for key in self.keys) or "none of them"
            raise wrong("", f"must have one of {', '.join(KINDS)}; it has {found}")
        key = self.keys[0]
        if self.connections and len(self.connections) < FEWEST.get(self.kind, 1):
            raise wrong("connections", f"must be {enough_for(self.kind)}")
        if self.designs and key in OF_DESIGNS:
            raise wrong("designs", f"follows from `{key}`; remove it")
        if key not in MULTIPLES and self.at_least is not None:
            raise wrong("at_least", f"is not for `{key}`; remove it")
        if self.ratio and self.at_least is None:
            raise wrong("", "has a `ratio` and no `at_least`; add it")
        if key in (BELOW, ABOVE) and self.within is not None:
            raise wrong("within", "is for what is equal (~); remove it")
        self.read_margin()
        return self

    @model_validator(mode="after")
    def check_side(self) -> Self:
        if self.compare and self.side:
            raise wrong("side", "follows from `compare`; remove it")
        if self.compare and METRIC_SIDES[self.metric] != SIDES:
            raise wrong("metric", "must be one that both sides have, where they are compared")
        if self.side and self.side not in self.sides:
            raise wrong("side", f"is {self.side!r}; it must be one of {', '.join(self.sides)}")
        return self

    def statement(self, cells: Sequence[Cell]) -> Statement:
        connections = tuple(sorted(self.connections))
        ours = tuple(name for group in self.groups for name in group)
        if self.kind not in OF_DESIGNS:
            ours = self.designs or designs_at(connections, self.client_engines, cells)
        return Statement(
            kind=self.kind,
            metric=self.metric,
            side=self.side or self.sides[0],
            connections=connections,
            groups=self.groups,
            designs=ours,
            at_least=self.at_least,
            within=self.read_margin(),
        )


def enough_for(kind: str) -> str:
    """How many numbers of connections."""
    said = SHAPE if kind in SHAPES else kind
    return f"at least {COUNTED[FEWEST[kind]]} numbers, where a `{said}` is claimed"


def designs_at(
    connections: Sequence[int], engines: Sequence[str], cells: Sequence[Cell]
) -> tuple[str, ...]:
    """`under every design`: all that race with each of these numbers of connections."""
    found: dict[str, set[tuple[int, str]]] = {}
    for cell in cells:
        raced_at = found.setdefault(cell.contender, set())
        raced_at.update({(cell.connections, cell.engine), (cell.connections, "")})
    wanted = {(count, engine) for count in connections for engine in engines or [""]}
    return tuple(name for name, raced_at in found.items() if wanted <= raced_at) or tuple(found)
