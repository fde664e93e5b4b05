"""The table of one statement of a claim: what is compared, how, and over which cells."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import model_validator

from regatta.ledger.cell import Cell
from regatta.ledger.inputs.claim import (
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
from regatta.study.claims.groups import (
    Compare,
    Engines,
    Gap,
    Groups,
    Nearer,
    Order,
    Raced,
    Ratio,
)
from regatta.study.claims.metrics import METRIC_SIDES, PERCENT_SIGN, unit_of, unit_of_rate
from regatta.study.toml_table import Many, Must, TomlTable, listed, one_of, wrong
from regatta.study.values import Connections

AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(%|[a-z][a-z ]*)")
SHARE = PERCENT_SIGN
LARGEST_BOUND = 1e12


def read_within(
    value: Any, kind: str, metric: str, groups: tuple[tuple[str, ...], ...]
) -> EquivalenceMargin:
    """A share, an amount, or both; with both, the wider one counts."""
    if value is None:
        return EquivalenceMargin()
    if kind not in (LINEAR, FLAT) and all(len(group) == 1 for group in groups):
        raise wrong("within", "is only for equality (~); remove it")
    unit = "" if kind in (LINEAR, GROWTH) else unit_of(metric)
    found: dict[str, float] = {}
    for one in listed(value):
        match = AMOUNT.fullmatch(one) if isinstance(one, str) else None
        if match is not None and match[2] in (SHARE, unit):
            found[match[2]] = float(match[1])
    share, amount = found.get(SHARE), found.get(unit)
    fits = found and len(found) == len(listed(value)) and min(found.values()) > 0
    if not fits or (share is not None and share >= 100):
        also = f', "0.1 {unit}", or a list of both' if unit else ""
        raise wrong("within", f'is {value!r}; it must be a share below 100 %, such as "10 %"{also}')
    return EquivalenceMargin(None if share is None else share / 100, amount, unit if amount else "")


def read_bound(value: Any, kind: str, metric: str) -> EquivalenceMargin:
    """The bound of a figure, with a unit if the metric has one."""
    unit = unit_of(metric) or unit_of_rate(metric)
    match = AMOUNT.fullmatch(value) if isinstance(value, str) else None
    if match is not None and match[2] == unit:
        return EquivalenceMargin(None, float(match[1]), unit)
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if plain and not unit and 0 <= value <= LARGEST_BOUND:
        return EquivalenceMargin(None, float(value))
    needed = f'an amount such as "0.1 {unit}"' if unit else "a number from 0, such as 0.1"
    raise wrong(kind, f"is {value!r}; it must be {needed}")


SHAPE = "shape"
KINDS = (ORDER, COMPARE, SHAPE, RATIO, ENGINES, GROWTH, WIDENS, NEARER, BELOW, ABOVE)
"""A statement has exactly one of these keys."""
OF_DESIGNS = (ORDER, RATIO, GROWTH, WIDENS, NEARER)
"""The kinds that compare designs."""
MULTIPLES = (ORDER, COMPARE, RATIO, ENGINES, GROWTH)
"""The kinds that allow `at_least`."""
FEWEST = {LINEAR: 3, **dict.fromkeys((SUBLINEAR, RISING, FALLING, FLAT, GROWTH, WIDENS), 2)}
"""How many numbers of connections a kind needs at least."""
COUNTED = {2: "two", 3: "three"}
MAX_TIMES = 1e9

Metric = Annotated[str, one_of(tuple(METRIC_SIDES))]


class StatementTable(TomlTable):
    """The keys of one statement."""

    metric: Metric
    side: Annotated[str, one_of(SIDES)] | None = None
    connections: Many[Connections] = ()
    """Empty: all of the study."""
    designs: Many[Raced] = ()
    order: Order = ()
    compare: Compare = ()
    shape: Annotated[str, one_of(SHAPES)] | None = None
    ratio: Ratio = ()
    client_engines: Engines = ()
    growth: Order = ()
    widens: Gap = ()
    nearer: Nearer = ()
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
        """Names from the smallest to the largest; a ratio's numerator is the larger."""
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
            raise wrong("", f"must have exactly one of {', '.join(KINDS)}; it has {found}")
        key = self.keys[0]
        if self.connections and len(self.connections) < FEWEST.get(self.kind, 1):
            raise wrong("connections", f"must be {enough_for(self.kind)}")
        if self.designs and key in OF_DESIGNS:
            raise wrong("designs", f"follows from `{key}`; remove it")
        if key not in MULTIPLES and self.at_least is not None:
            raise wrong("at_least", f"cannot be combined with `{key}`; remove it")
        if self.ratio and self.at_least is None:
            raise wrong("", "has a `ratio` but no `at_least`; add it")
        if key in (BELOW, ABOVE) and self.within is not None:
            raise wrong("within", "is only for equality (~); remove it")
        self.read_margin()
        return self

    @model_validator(mode="after")
    def check_side(self) -> Self:
        if self.compare and self.side:
            raise wrong("side", "follows from `compare`; remove it")
        if self.compare and METRIC_SIDES[self.metric] != SIDES:
            raise wrong("metric", "must be one that both sides have, because `compare` needs both")
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
    """How many numbers of connections a kind needs, in words."""
    key = SHAPE if kind in SHAPES else kind
    return f"at least {COUNTED[FEWEST[kind]]} numbers, because `{key}` needs them"


def designs_at(
    connections: Sequence[int], engines: Sequence[str], cells: Sequence[Cell]
) -> tuple[str, ...]:
    """All designs that race with each of these numbers of connections."""
    found: dict[str, set[tuple[int, str]]] = {}
    for cell in cells:
        raced_at = found.setdefault(cell.contender, set())
        raced_at.update({(cell.connections, cell.engine), (cell.connections, "")})
    wanted = {(count, engine) for count in connections for engine in engines or [""]}
    return tuple(name for name, raced_at in found.items() if wanted <= raced_at) or tuple(found)
