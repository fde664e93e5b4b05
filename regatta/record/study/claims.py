"""`[[claim]]`: statements, published or your own, that a study tests, and their sources."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from regatta.errors import StudyError
from regatta.record.cell import Cell
from regatta.record.inputs import WHERE_KEYS, Claim
from regatta.record.study import keys, limits
from regatta.record.study.claim_cells import check_cells
from regatta.record.study.statement import OF_DESIGNS, Metric, Raced, StatementTable


class Source(keys.TomlTable):
    """File names are relative to the study's folder."""

    title: keys.Text | None = None
    claims: keys.Text | None = None
    """A TOML file of `[[claim]]` tables, in addition to the study's own."""
    published: keys.Text | None = None
    """A CSV file."""
    metric: Metric | None = None
    """The metric of a CSV file that has a column for each machine."""
    connections: keys.Connections | None = None
    """The number of connections of such a file."""


class ClaimTable(StatementTable):
    """A `[[claim]]`: its first statement, and the keys of the claim."""

    id: keys.Name
    says: keys.Text
    said_at: keys.Text | None = Field(default=None, alias="where")
    note: keys.Text | None = None
    source: Annotated[str, keys.among("sources")] | None = None
    per: Annotated[str, keys.one_of(("process", "request"))] = "process"
    published_agrees: keys.Flag = True
    joined: list[StatementTable] = Field(default=[], alias="and")
    process_engines: dict[Raced, keys.Engine] = {}
    engine: keys.Engine | None = None
    workers: Annotated[int, keys.whole(0, limits.MAX_WORKERS)] | None = None
    work: keys.Work | None = None
    load: keys.Load | None = None
    dialect: keys.Dialect | None = None
    rate: Annotated[int, keys.whole(0, limits.MAX_RATE_PER_S)] | None = None
    idle: keys.BackgroundConnections | None = None
    slow: keys.BackgroundConnections | None = None
    backlog: keys.Backlog | None = None

    @model_validator(mode="before")
    @classmethod
    def inherit(cls, content: Any) -> Any:
        """Statements under `and` inherit missing keys from the first."""
        if not isinstance(content, dict) or "and" not in content:
            return content
        joined = [inherited(content, table) for table in keys.listed(content["and"])]
        return {**content, "and": joined}

    def claim(self, cells: Sequence[Cell], source: str | None = None) -> Claim:
        """`source`: of the file that has it."""
        return Claim(
            id=self.id,
            says=self.says,
            said_at=self.said_at or "",
            note=self.note or "",
            statements=tuple(table.statement(cells) for table in (self, *self.joined)),
            source=self.source or source,
            per=self.per,
            published_agrees=self.published_agrees,
            where={key: getattr(self, key) for key in WHERE_KEYS if self.has(key)},
            process_engines=self.process_engines,
        )


class ClaimsFile(keys.TomlTable):
    claim: list[ClaimTable] = []


def inherited(content: Mapping[str, Any], joined: Any) -> Any:
    if not isinstance(joined, dict):
        return joined
    names = ["metric", "connections"]
    names += [] if "compare" in joined else ["side"]
    names += [] if set(OF_DESIGNS) & joined.keys() else ["designs"]
    return {name: content[name] for name in names if name in content} | joined


def read_claims(
    tables: Sequence[ClaimTable],
    cells: Sequence[Cell],
    sources: Mapping[str, Source],
    folder: Path,
) -> tuple[Claim, ...]:
    """The claims of the sources' files, then the study's own; each must be about its cells."""
    claims: dict[str, Claim] = {}
    raced = list(dict.fromkeys(cell.contender for cell in cells))
    for name, source in sources.items():
        if source.claims is None:
            continue
        try:
            text = keys.text_of(folder / source.claims)
        except StudyError as error:
            raise StudyError(f"`sources.{name}.claims`: {error}") from error
        try:
            content = keys.content_of(text, "it")
            found = keys.read(ClaimsFile, content, raced=raced, sources=sources).claim
            if not found:
                raise StudyError("it has no claim; add a [[claim]] table")
            add_claims(claims, [table.claim(cells, name) for table in found], cells)
        except StudyError as error:
            raise StudyError(*(f"{source.claims}: {line}" for line in error.mistakes)) from error
    add_claims(claims, [table.claim(cells) for table in tables], cells)
    return tuple(claims.values())


def add_claims(claims: dict[str, Claim], added: Sequence[Claim], cells: Sequence[Cell]) -> None:
    total = len(claims) + len(added)
    if total > limits.MAX_CLAIMS:
        raise StudyError(f"the study has {total} claims; at most {limits.MAX_CLAIMS} are allowed")
    for claim in added:
        if claim.id in claims:
            raise StudyError(f"the claim {claim.id} appears twice; give each its own `id`")
        check_cells(claim, cells)
        claims[claim.id] = claim
