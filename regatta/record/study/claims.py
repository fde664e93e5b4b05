"""`[[claim]]`: statements, published or your own, that a study tests, and their sources."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from regatta.errors import StudyError
from regatta.record.cell import Cell
from regatta.record.inputs import WHERE_KEYS, Claim
from regatta.record.study import limits
from regatta.record.study.claim_cells import check_cells, with_study_connections
from regatta.record.study.statement import FEWEST, OF_DESIGNS, Metric, Raced, StatementTable
from regatta.record.study.toml_table import (
    BackgroundConnections,
    Backlog,
    Connections,
    Dialect,
    Engine,
    Flag,
    Load,
    Name,
    Text,
    TomlTable,
    Work,
    among,
    content_of,
    listed,
    one_of,
    read,
    read_each,
    text_of,
    whole,
    wrong,
)


class Source(TomlTable):
    """File names are relative to the study's folder."""

    title: Text | None = None
    claims: Text | None = None
    """A TOML file of `[[claim]]` tables, in addition to the study's own."""
    published: Text | None = None
    """A CSV file."""
    metric: Metric | None = None
    """The metric of a CSV file that has a column for each machine."""
    connections: Connections | None = None
    """The number of connections of such a file."""


class ClaimsFile(TomlTable):
    claim: list[Any] = []


def text_of_claims(name: str, path: Path) -> str:

    try:
        return text_of(path)
    except StudyError as error:
        raise StudyError(f"`sources.{name}.claims`: {error}") from error


def claims_in(text: str, name: str) -> list[Any]:
    """The claims of such a file; their default source is this one."""
    tables = read(ClaimsFile, content_of(text, "it")).claim
    if not tables:
        raise StudyError("it has no claim; add a [[claim]] table")
    return [{"source": name} | one if isinstance(one, dict) else one for one in tables]


@contextmanager
def naming_file(file: str) -> Iterator[None]:
    """Adds the file's name to errors; the caller adds the study's."""
    try:
        yield
    except StudyError as error:
        raise StudyError(f"{file}: {error}") from error


class ClaimTable(StatementTable):
    """A `[[claim]]`: its first statement, and the keys of the claim."""

    id: Name
    says: Text
    said_at: Text | None = Field(default=None, alias="where")
    note: Text | None = None
    source: Annotated[str, among("sources")] | None = None
    per: Annotated[str, one_of(("process", "request"))] = "process"
    published_agrees: Flag = True
    joined: list[StatementTable] = Field(default=[], alias="and")
    process_engines: dict[Raced, Engine] = {}
    engine: Engine | None = None
    workers: Annotated[int, whole(0, limits.MAX_WORKERS)] | None = None
    work: Work | None = None
    load: Load | None = None
    dialect: Dialect | None = None
    rate: Annotated[int, whole(0, limits.MAX_RATE_PER_S)] | None = None
    idle: BackgroundConnections | None = None
    slow: BackgroundConnections | None = None
    backlog: Backlog | None = None

    @model_validator(mode="before")
    @classmethod
    def inherit(cls, content: Any) -> Any:
        """Statements under `and` inherit missing keys from the first."""
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
            said_at=self.said_at or "",
            note=self.note or "",
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
    keys += [] if set(OF_DESIGNS) & joined.keys() else ["designs"]
    return {key: content[key] for key in keys if key in content} | joined


def read_claims(
    own: Sequence[Any], cells: Sequence[Cell], sources: Mapping[str, Source], folder: Path
) -> tuple[Claim, ...]:
    """The claims of the sources' files, then the study's own; each must be about its cells."""
    claims: dict[str, Claim] = {}
    for name, source in sources.items():
        if source.claims is not None:
            text = text_of_claims(name, folder / source.claims)
            with naming_file(source.claims):
                add_claims(claims, claims_in(text, name), cells, sources)
    add_claims(claims, own, cells, sources)
    return tuple(claims.values())


def add_claims(
    claims: dict[str, Claim],
    tables: Sequence[Any],
    cells: Sequence[Cell],
    sources: Mapping[str, Source],
) -> None:
    count = len(claims) + len(tables)
    if count > limits.MAX_CLAIMS:
        raise StudyError(f"the study has {count} claims; at most {limits.MAX_CLAIMS} are allowed")
    read_each(partial(add_claim, claims, *one, cells, sources) for one in enumerate(tables))


def add_claim(
    claims: dict[str, Claim],
    number: int,
    table: Any,
    cells: Sequence[Cell],
    sources: Mapping[str, Source],
) -> None:
    raced = list(dict.fromkeys(cell.contender for cell in cells))
    name = table.get("id") if isinstance(table, dict) else None
    named = isinstance(name, str) and limits.NAME_PATTERN.fullmatch(name)
    key_path = (f"claim {name}",) if named else ("claim", number)
    claim = read(ClaimTable, table, *key_path, raced=raced, sources=sources).claim(cells)
    if claim.id in claims:
        raise StudyError(f"the claim {claim.id} appears twice; give each its own `id`")
    raced_at = with_study_connections(claim, cells)
    check_connections(raced_at)
    check_cells(raced_at, cells)
    claims[claim.id] = claim


def check_connections(claim: Claim) -> None:
    """A claim without `connections` needs enough of them in the study."""
    for said in claim.statements:
        needed = FEWEST.get(said.kind, 1)
        if len(said.connections) < needed:
            raise StudyError(
                f"the claim {claim.id} names no `connections`; it needs at least {needed}, but the "
                f"study has all its cells at {len(said.connections)}; add `connections` to the "
                "claim, or cells to the study"
            )
