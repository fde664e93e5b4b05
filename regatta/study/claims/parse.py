"""`[[claim]]` and `[sources]`: what a study tests of what others, or you, have said."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from regatta.errors import StudyError
from regatta.ledger.cell import Cell
from regatta.ledger.given.claim import (
    BOTH,
    COMPARE,
    ENGINES,
    LINEAR,
    ORDER,
    RATIO,
    WHERE_KEYS,
    Claim,
    Statement,
)
from regatta.ledger.metrics import SIDES
from regatta.study import limits
from regatta.study.claims.cells import check_cells
from regatta.study.claims.margin import read_within
from regatta.study.claims.metrics import METRIC_SIDES
from regatta.study.form import (
    Flag,
    Form,
    Many,
    Must,
    Text,
    among,
    listed,
    must,
    one_of,
    read,
    whole,
    wrong,
)
from regatta.study.values import (
    BackgroundConnections,
    Connections,
    Dialect,
    Engine,
    Load,
    Name,
    Work,
)

KINDS = {
    "order": ORDER,
    "compare": COMPARE,
    "shape": LINEAR,
    "ratio": RATIO,
    "client_engines": ENGINES,
}
COMPARED = re.compile(r"\s*(server|client)\s*([<~])\s*(server|client)\s*")
MAX_TIMES = 1e9

Metric = Annotated[str, one_of(tuple(METRIC_SIDES))]
Raced = Annotated[str, among("raced")]
Groups = tuple[tuple[str, ...], ...]
"""What is compared, from the smallest to the largest."""


class Source(Form):
    """`[sources.NAME]`: who claims it, and where the figures are."""

    title: Text | None = None
    published: Text | None = None
    """A CSV file, from the study's folder."""
    metric: Metric | None = None
    """Of a file that has a column for each machine and none for metrics."""
    connections: Connections | None = None
    """Of the same."""


def read_order(value: Any, info: ValidationInfo) -> Groups:
    """`["iterative~select", "fork-per-client"]`: two equal ones, and one above them."""
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise must("a list of names, from the smallest to the largest")
    groups = tuple(tuple(name.strip() for name in entry.split("~")) for entry in value)
    names = [name for group in groups for name in group]
    raced = info.context["raced"] if info.context else ()
    for name in names:
        if name not in raced:
            raise wrong(
                "",
                f"names {name!r}, which the study does not race; "
                f"its contenders: {', '.join(raced)}",
            )
    if len(names) < 2 or len(set(names)) != len(names):
        raise must("a list of at least two different names")
    return groups


def read_compare(value: Any) -> Groups:
    match = COMPARED.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1] == match[3]:
        raise must("`client < server`, `server < client` or with ~")
    return ((match[1], match[3]),) if match[2] == "~" else ((match[1],), (match[3],))


def two(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) != 2:
        raise must("a list of two")
    return names


def several(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) < 2:
        raise must("a list of at least two")
    return names


class StatementForm(Form):
    """One statement of a claim, as it is written."""

    metric: Metric
    side: Annotated[str, one_of(SIDES)] | None = None
    connections: Many[Connections]
    designs: Many[Raced] = ()
    order: Annotated[Groups, BeforeValidator(read_order)] = ()
    compare: Annotated[Groups, BeforeValidator(read_compare)] = ()
    shape: Annotated[str, one_of(("linear",))] | None = None
    ratio: Annotated[Many[Raced], AfterValidator(two)] = ()
    client_engines: Annotated[Many[Engine], AfterValidator(several)] = ()
    at_least: (
        Annotated[
            float,
            Must(f"a number above 1 and up to {MAX_TIMES:g}", lambda times: 1 < times <= MAX_TIMES),
        ]
        | None
    ) = None
    within: Any = None

    @property
    def kinds(self) -> list[str]:
        return [key for key in KINDS if self.has(key)]

    @property
    def groups(self) -> Groups:
        """Names from the smallest to the largest; the numerator of a ratio is the larger."""
        alone = self.ratio[::-1] or self.client_engines
        return self.order or self.compare or tuple((name,) for name in alone)

    @property
    def sides(self) -> tuple[str, ...]:
        return (BOTH,) if self.compare else METRIC_SIDES[self.metric]

    @model_validator(mode="after")
    def check_kind(self) -> Self:
        if len(self.kinds) != 1:
            found = " and ".join(f"`{kind}`" for kind in self.kinds) or "none of them"
            raise wrong("", f"must have one of {', '.join(KINDS)}; it has {found}")
        kind = self.kinds[0]
        if self.shape and len(self.connections) < 3:
            raise wrong("connections", "must be at least three numbers, where a shape is claimed")
        if self.designs and (self.order or self.ratio):
            raise wrong("designs", f"follows from `{kind}`; remove it")
        if self.shape and self.at_least is not None:
            raise wrong("at_least", "is not for a shape; remove it")
        if self.ratio and self.at_least is None:
            raise wrong("", "has a `ratio` and no `at_least`; add it")
        read_within(self.within, KINDS[kind], self.metric, self.groups)
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
        kind = KINDS[self.kinds[0]]
        connections = tuple(sorted(self.connections))
        ours = tuple(name for group in self.groups for name in group)
        if kind not in (ORDER, RATIO):
            ours = self.designs or designs_at(connections, self.client_engines, cells)
        return Statement(
            kind=kind,
            metric=self.metric,
            side=self.side or self.sides[0],
            connections=connections,
            groups=self.groups,
            designs=ours,
            at_least=self.at_least,
            within=read_within(self.within, kind, self.metric, self.groups),
        )


class ClaimForm(StatementForm):
    """`[[claim]]`, as it is written: what is said first, and all around it."""

    id: Name
    says: Text
    source: Annotated[str, among("sources")] | None = None
    per: Annotated[str, one_of(("process", "request"))] = "process"
    published_agrees: Flag = True
    joined: list[StatementForm] = Field(default=[], alias="and")
    process_engines: dict[Raced, Engine] = {}
    engine: Engine | None = None
    workers: Annotated[int, whole(0, limits.MAX_WORKERS)] | None = None
    work: Work | None = None
    load: Load | None = None
    dialect: Dialect | None = None
    rate: Annotated[int, whole(0, limits.MAX_RATE_PER_S)] | None = None
    idle: BackgroundConnections | None = None
    slow: BackgroundConnections | None = None

    @model_validator(mode="before")
    @classmethod
    def inherit(cls, content: Any) -> Any:
        """What a further statement does not say itself it has from the first."""
        if not isinstance(content, dict) or "and" not in content:
            return content
        return {**content, "and": [inherited(content, one) for one in listed(content["and"])]}

    @model_validator(mode="after")
    def check_engine(self) -> Self:
        if self.engine and self.client_engines:
            raise wrong("engine", "follows from `client_engines`; remove it")
        return self

    def claim(self, cells: Sequence[Cell]) -> Claim:
        return Claim(
            id=self.id,
            says=self.says,
            statements=tuple(one.statement(cells) for one in (self, *self.joined)),
            source=self.source,
            per=self.per,
            published_agrees=self.published_agrees,
            where={key: getattr(self, key) for key in WHERE_KEYS if self.has(key)},
            process_engines=self.process_engines,
        )


def inherited(content: Mapping[str, Any], joined: Any) -> Any:
    if not isinstance(joined, dict):
        return joined
    keys = ["metric", "connections"]
    keys += [] if "compare" in joined else ["side"]
    keys += [] if {"order", "ratio"} & joined.keys() else ["designs"]
    return {key: content[key] for key in keys if key in content} | joined


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


def read_claims(
    tables: Sequence[Any], cells: Sequence[Cell], sources: Mapping[str, Source]
) -> tuple[Claim, ...]:
    """All claims of a study; each must be over cells of the study."""
    if len(tables) > limits.MAX_CLAIMS:
        raise StudyError(f"the study has {len(tables)} claims; the most is {limits.MAX_CLAIMS}")
    raced = list(dict.fromkeys(cell.contender for cell in cells))
    claims: dict[str, Claim] = {}
    for number, table in enumerate(tables):
        name = table.get("id") if isinstance(table, dict) else None
        named = isinstance(name, str) and limits.NAME_PATTERN.fullmatch(name)
        key_path = (f"claim {name}",) if named else ("claim", number)
        claim = read(ClaimForm, table, *key_path, raced=raced, sources=sources).claim(cells)
        if claim.id in claims:
            raise StudyError(f"the claim {claim.id} appears twice; give each its own `id`")
        check_cells(claim, cells)
        claims[claim.id] = claim
    return tuple(claims.values())
