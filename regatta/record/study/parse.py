"""From the text of a study to a Study, or to an error of one line; and its shorter first look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import ValidationInfo, field_validator

from regatta.errors import StudyError
from regatta.record.cell import PROCESS, Cell, matched_cells
from regatta.record.counters import EVENTS
from regatta.record.inputs import Claim
from regatta.record.study import limits
from regatta.record.study.baseline import BaselineTable, read_baseline
from regatta.record.study.cells import read_cells
from regatta.record.study.claims import Source, read_claims
from regatta.record.study.contender import Contender, read_folders
from regatta.record.study.find import Design
from regatta.record.study.placement import PlacementTable
from regatta.record.study.race import RaceTable
from regatta.record.study.toml_table import (
    Many,
    Must,
    Text,
    TomlTable,
    content_of,
    one_of,
    read,
    text_of,
    wrong,
)


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


class StudyTable(TomlTable):
    """The top level of a study; tables that depend on others are validated later."""

    name: Annotated[
        str, Must(f"{limits.NAME_NEEDED} (a folder's name)", limits.NAME_PATTERN.fullmatch)
    ]
    title: Text | None = None
    race: RaceTable = RaceTable()
    placement: PlacementTable = PlacementTable()
    events: Many[Annotated[str, one_of(EVENTS)]] = EVENTS
    baseline: Any = None
    contenders_from: Text | None = None
    contenders: dict[str, Contender] = {}
    cells: list[Any] = []
    sources: dict[str, Source] = {}
    claim: list[Any] = []

    @field_validator("contenders", mode="before")
    @classmethod
    def check_names(cls, value: Any, info: ValidationInfo) -> Any:
        for name in value if isinstance(value, dict) else ():
            if not limits.NAME_PATTERN.fullmatch(name):
                raise wrong(name, f"is not a valid name; use {limits.NAME_NEEDED}")
            if info.context and name in info.context["designs"]:
                raise wrong(name, "is the name of a design; use another name")
        return value


def parse_study(
    text: str, designs: Sequence[Design], folder: Path | None = None, *, with_claims: bool = True
) -> Study:
    """Parses a study for a server that has these designs.

    Without its claims only files of requests are read: a resumed race has the claims in its ledger.
    """
    content = content_of(text, "the study")
    folder = (folder or Path()).absolute()
    written = read_tables(content, designs, folder)
    contenders = all_contenders(written, designs, folder)
    cells = read_cells(written.cells, designs, contenders)
    raced, left_out = without_missing(cells, designs, contenders, folder)
    check_alone_blocks(written.race, raced)
    check_fixed_ports(written, raced)
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


def all_contenders(
    written: StudyTable, designs: Sequence[Design], folder: Path
) -> dict[str, Contender]:
    """Those of `contenders_from`, and the study's own, which come last and replace them."""
    if written.contenders_from is None:
        return written.contenders
    found = read_folders((folder / written.contenders_from).resolve(), designs)
    return {**found, **written.contenders}


def read_tables(content: Mapping[str, Any], designs: Sequence[Design], folder: Path) -> StudyTable:
    """The top level. Its errors are reported together with those of the cells."""
    names = [design.name for design in designs]
    try:
        return read(StudyTable, content, designs=names, folder=folder)
    except StudyError as error:
        raise StudyError(*error.mistakes, *mistakes_in_cells(content, designs, folder)) from error


def mistakes_in_cells(
    content: Mapping[str, Any], designs: Sequence[Design], folder: Path
) -> tuple[str, ...]:
    """None if the contenders are not valid or lie elsewhere: the cells need them."""
    if "contenders_from" in content:
        return ()
    names = [design.name for design in designs]
    needed = {key: content[key] for key in ("contenders", "cells") if key in content}
    try:
        known = read(StudyTable, {"name": "checked"} | needed, designs=names, folder=folder)
    except StudyError:
        return ()
    try:
        read_cells(known.cells, designs, known.contenders)
    except StudyError as error:
        return error.mistakes if known.cells else ()
    return ()


def check_alone_blocks(race: RaceTable, cells: Sequence[Cell]) -> None:
    if race.alone_blocks and (race.slices == 1 or all(cell.scope == PROCESS for cell in cells)):
        raise StudyError(
            "`race.alone_blocks` measures how servers that run at the same time affect each other, "
            "but in this study each runs alone; remove it, or set `race.slices`"
        )


def check_fixed_ports(written: StudyTable, cells: Sequence[Cell]) -> None:
    """Servers that run at the same time need a port each."""
    fixed = [name for name, one in written.contenders.items() if one.port is not None]
    for name in fixed if written.race.slices > 1 else ():
        if any(cell.contender == name for cell in cells):
            raise StudyError(
                f"`contenders.{name}.port` is fixed, but with `race.slices` servers run at the "
                "same time and need other ports; remove `race.slices`"
            )


def without_missing(
    cells: Sequence[Cell],
    designs: Sequence[Design],
    contenders: Mapping[str, Contender],
    folder: Path,
) -> tuple[tuple[Cell, ...], dict[str, str]]:
    """The cells that can be raced here, and why the other designs and contenders cannot."""
    missing = {design.name: design.missing for design in designs if design.missing}
    missing |= {name: why for name, one in contenders.items() if (why := one.missing(folder))}
    return without(cells, missing)


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
    text = text_of(path)
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
