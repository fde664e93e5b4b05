"""From the text of a study to a Study, or to an error of one line; and its shorter first look."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import ValidationInfo, field_validator

from regatta.errors import StudyError
from regatta.record.cell import PROCESS, Cell, matched_cells
from regatta.record.counters import EVENTS
from regatta.record.inputs import Claim, PublishedTable
from regatta.record.study import keys, limits
from regatta.record.study.cells import read_cells
from regatta.record.study.claims import Source, read_claims
from regatta.record.study.contender import Contender, read_folders
from regatta.record.study.find import Design
from regatta.record.study.placement import PlacementTable
from regatta.record.study.race import RaceTable

# Lines that begin with # name the source. The header has `design` and up to 12 other columns, which
# hold numbers or nothing; there is a row for each contender.

MAX_COLUMNS = 12


def read_published(path: Path, key: str = "baseline.published") -> PublishedTable:
    """`key`: the study's key that names the file, for errors."""
    source, reader = read_csv(path, key)
    columns = [name for name in reader.fieldnames or [] if name != "design"]
    if "design" not in (reader.fieldnames or []) or not 0 < len(columns) <= MAX_COLUMNS:
        raise StudyError(f"{path}: the header must have `design` and 1 to {MAX_COLUMNS} others")
    rows: dict[str, list[float | None]] = {}
    for row in reader:
        rows[str(row["design"])] = [number(path, row[column]) for column in columns]
    return PublishedTable(source.removeprefix("Source: "), columns, rows)


def read_csv(path: Path, key: str) -> tuple[str, csv.DictReader[str]]:
    """The text of its comments, and its rows."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"`{key}`: cannot read {path} ({error})") from error
    source = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    return source, csv.DictReader(line for line in lines if line and not line.startswith("#"))


def number(path: Path, text: str | None) -> float | None:
    """None for an empty field: a missing figure is not 0."""
    if not text or not text.strip():
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise StudyError(f"{path} contains {text!r}; it must be a number or empty") from error
    if not math.isfinite(value):
        raise StudyError(f"{path} contains {text!r}; it must be a finite number")
    return value


class BaselineTable(keys.TomlTable):
    """Reports subtract this contender's server CPU time from all others."""

    contender: Annotated[str, keys.among("raced")]
    published: keys.Text | None = None
    """A CSV file (regatta/record/study/parse.py), relative to the study's folder."""
    published_at: Annotated[int, keys.whole(0, limits.MAX_RATE_PER_S)] | None = None
    """The step of the axis that the figures belong to; None: all steps."""


def read_baseline(content: Any, cells: Sequence[Cell]) -> BaselineTable | None:
    if content is None:
        return None
    raced = sorted({cell.contender for cell in cells})
    return keys.read(BaselineTable, content, "baseline", raced=raced)


STUDY_NAME = keys.Must(f"{limits.NAME_NEEDED} (a folder's name)", limits.NAME_PATTERN.fullmatch)


class Study(RaceTable, PlacementTable):
    """A valid study: the keys of `[race]` and `[placement]`, and everything else."""

    name: str
    title: str
    events: tuple[str, ...]
    cells: tuple[Cell, ...]
    contenders: Mapping[str, Contender]
    baseline: BaselineTable | None
    left_out: Mapping[str, str]
    """Designs and contenders of the study that cannot run here, and why."""
    toml: str
    folder: Path
    """The study's folder; its file names are relative to it."""
    claims: tuple[Claim, ...] = ()
    sources: Mapping[str, Source] = {}
    quick: bool = False
    """Whether its blocks were cut (`cut_blocks`)."""
    few_blocks: bool = False
    """Whether its time allows fewer blocks than sign flips need (verbs/servers/study_text.py)."""

    def but(self, **changes: Any) -> Study:
        """A copy with other values."""
        assert changes.keys() <= type(self).model_fields.keys()
        return self.model_copy(update=changes)


class StudyTable(keys.TomlTable):
    """The top level of a study; tables that depend on others are validated later."""

    name: Annotated[str, STUDY_NAME]
    title: keys.Text | None = None
    race: RaceTable = RaceTable()
    placement: PlacementTable = PlacementTable()
    events: keys.Many[Annotated[str, keys.one_of(EVENTS)]] = EVENTS
    baseline: Any = None
    contenders_from: keys.Text | None = None
    contenders: dict[str, Contender] = {}
    cells: list[Any] = []
    sources: dict[str, Source] = {}
    claim: list[Any] = []

    @field_validator("contenders", mode="before")
    @classmethod
    def check_names(cls, value: Any, info: ValidationInfo) -> Any:
        for name in value if isinstance(value, dict) else ():
            if not limits.NAME_PATTERN.fullmatch(name):
                raise keys.wrong(name, f"is not a valid name; use {limits.NAME_NEEDED}")
            if info.context and name in info.context["designs"]:
                raise keys.wrong(name, "is the name of a design; use another name")
        return value


def parse_study(
    text: str, designs: Sequence[Design], folder: Path | None = None, *, with_claims: bool = True
) -> Study:
    """Parses a study for a server that has these designs.

    Without its claims only files of requests are read: a resumed race has the claims in its ledger.
    """
    content = keys.content_of(text, "the study")
    folder = (folder or Path()).absolute()
    written = read_tables(content, designs, folder)
    contenders: Mapping[str, Contender] = written.contenders
    if written.contenders_from is not None:
        # The study's own come last and replace them.
        found = read_folders((folder / written.contenders_from).resolve(), designs)
        contenders = {**found, **contenders}
    cells = read_cells(written.cells, designs, contenders)
    missing = {design.name: design.missing for design in designs if design.missing}
    missing |= {name: why for name, one in contenders.items() if (why := one.missing(folder))}
    raced, left_out = without(cells, missing)
    check_slices(written, raced)
    claims = read_claims(written.claim, cells, written.sources, folder) if with_claims else ()
    return Study.model_construct(
        **dict(written.race),
        **dict(written.placement),
        name=written.name,
        title=written.title or written.name,
        events=written.events,
        cells=raced,
        contenders=contenders,
        baseline=read_baseline(written.baseline, cells),
        left_out=left_out,
        toml=text,
        folder=folder,
        claims=claims,
        sources=written.sources,
    )


def read_tables(content: Mapping[str, Any], designs: Sequence[Design], folder: Path) -> StudyTable:
    """The top level. Its errors are reported together with those of the cells."""
    names = [design.name for design in designs]
    try:
        return keys.read(StudyTable, content, designs=names, folder=folder)
    except StudyError as error:
        mistakes = error.mistakes
    if "contenders_from" not in content:
        needed = {key: content[key] for key in ("contenders", "cells") if key in content}
        try:
            known = keys.read(StudyTable, {"name": "x"} | needed, designs=names, folder=folder)
        except StudyError:
            needed = {}  # the cells need valid contenders
        try:
            if needed.get("cells"):
                read_cells(known.cells, designs, known.contenders)
        except StudyError as error:
            mistakes += error.mistakes
    raise StudyError(*mistakes)


def check_slices(written: StudyTable, cells: Sequence[Cell]) -> None:
    """With slices servers run at the same time: each needs a port of its own."""
    race = written.race
    if race.alone_blocks and (race.slices == 1 or all(cell.scope == PROCESS for cell in cells)):
        raise StudyError(
            "`race.alone_blocks` measures how servers that run at the same time affect each other, "
            "but in this study each runs alone; remove it, or set `race.slices`"
        )
    fixed = [name for name, one in written.contenders.items() if one.port is not None]
    for name in fixed if race.slices > 1 else ():
        if any(cell.contender == name for cell in cells):
            raise StudyError(
                f"`contenders.{name}.port` is fixed, but with `race.slices` servers run at the "
                "same time and need other ports; remove `race.slices`"
            )


def leave_out(study: Study, missing: Mapping[str, str]) -> Study:
    """The study without what cannot run where it is raced."""
    cells, left_out = without(study.cells, missing)
    return study.but(cells=cells, left_out={**study.left_out, **left_out})


def without(
    cells: Sequence[Cell], missing: Mapping[str, str]
) -> tuple[tuple[Cell, ...], dict[str, str]]:
    """The cells without these, and the reasons for those that the study names."""
    left_out = {name: missing[name] for name in missing if any(c.contender == name for c in cells)}
    raced = tuple(cell for cell in cells if cell.contender not in left_out)
    if not raced:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise StudyError(f"nothing of the study can run here ({why})")
    return raced, left_out


def load_study(path: Path, designs: Sequence[Design]) -> Study:
    """Reads and checks a study file."""
    text = keys.text_of(path)
    try:
        return parse_study(text, designs, path.resolve().parent)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error


# A first look: the same study, cut to the fewest blocks that still give intervals. Cells are never
# cut: the same contenders and loads are raced.

BLOCKS = 7
"""One more than a verdict needs, to allow for a failed trial
(judge/statistics/blocks_needed.py; a test compares both)."""
COUNTED_BLOCKS = 2
"""An interval needs two."""
SEARCH_BLOCKS = 2
"""An interval needs two."""


def cut_blocks(study: Study) -> Study:
    """One sitting, and no alone blocks: these check the other blocks, and need six.

    A study that is already this short is returned unchanged.
    """
    cut: dict[str, Any] = {
        "blocks": min(study.blocks, BLOCKS),
        "counted_blocks": min(study.counted_blocks, COUNTED_BLOCKS),
        "alone_blocks": 0,
        "sittings": 1,
        "width_percent": None,
    }
    if matched_cells(study.cells):
        cut["search_blocks"] = min(study.search_blocks, SEARCH_BLOCKS)
    if all(getattr(study, name) == value for name, value in cut.items()):
        return study
    return study.but(quick=True, **cut, pause_s=0, most_blocks=None)
