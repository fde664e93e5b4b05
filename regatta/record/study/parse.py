"""From the text of a study to a Study, or to errors of one line; and its shorter first look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, field_validator

from regatta.errors import StudyError
from regatta.record.cell import PROCESS, Cell, matched_cells
from regatta.record.counters import EVENTS
from regatta.record.inputs import Claim
from regatta.record.study import keys, limits
from regatta.record.study.cells import CellGroup, all_cells
from regatta.record.study.claims import ClaimTable, Source, read_claims
from regatta.record.study.contender import Contender, read_folders
from regatta.record.study.find import Design
from regatta.record.study.placement import PlacementTable
from regatta.record.study.race import RaceTable


class BaselineTable(keys.TomlTable):
    """Reports subtract this contender's server CPU time from all others."""

    contender: Annotated[str, keys.among("raced")]
    published: keys.Text | None = None
    """A CSV file (regatta/record/study/published.py), relative to the study's folder."""
    published_at: Annotated[int, keys.whole(0, limits.MAX_RATE_PER_S)] | None = None
    """The step of the axis that the figures belong to; None: all steps."""


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
        assert changes.keys() <= type(self).model_fields.keys()
        return self.model_copy(update=changes)


NEEDS = {"cells": "contenders", "baseline": "cells", "claim": "cells"}
"""Tables that are only checked if those that they name are valid."""


class StudyTable(keys.TomlTable):
    """The top level of a study. The context holds what its tables may name: `designs` and `folder`
    from the start, `contenders`, `raced` and `sources` once they are read.
    """

    name: Annotated[str, STUDY_NAME]
    title: keys.Text | None = None
    race: RaceTable = RaceTable()
    placement: PlacementTable = PlacementTable()
    events: keys.Many[Annotated[str, keys.one_of(EVENTS)]] = EVENTS
    contenders_from: keys.Text | None = None
    contenders: dict[str, Contender] = Field(default={}, validate_default=True)
    cells: list[CellGroup] = []
    baseline: BaselineTable | None = None
    sources: dict[str, Source] = {}
    claim: list[ClaimTable] = []

    @field_validator("contenders", mode="before")
    @classmethod
    def check_names(cls, value: Any, info: ValidationInfo[dict[str, Any]]) -> Any:
        for name in value if isinstance(value, dict) else ():
            if not limits.NAME_PATTERN.fullmatch(name):
                raise keys.wrong(name, f"is not a valid name; use {limits.NAME_NEEDED}")
            if name in info.context["designs"]:
                raise keys.wrong(name, "is the name of a design; use another name")
        return value

    @field_validator("contenders")
    @classmethod
    def add_those_of_the_folder(
        cls, value: dict[str, Contender], info: ValidationInfo[dict[str, Any]]
    ) -> dict[str, Contender]:
        """Before the study's own, which replace them."""
        folder = info.data.get("contenders_from")
        if folder is not None:
            found = read_folders(
                (info.context["folder"] / folder).resolve(), info.context["designs"]
            )
            value = {**found, **value}
        return value

    @field_validator("cells", "baseline", "claim", mode="wrap")
    @classmethod
    def check_if_possible(
        cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo[dict[str, Any]]
    ) -> Any:
        needs_claims = info.field_name != "claim" or info.context["with_claims"]
        return read(value) if needs_claims and NEEDS[info.field_name or ""] in info.data else []

    @field_validator("cells")
    @classmethod
    def name_the_raced(
        cls, groups: list[CellGroup], info: ValidationInfo[dict[str, Any]]
    ) -> list[CellGroup]:
        names = [name for group in groups for name in (*group.designs, *group.contenders)]
        info.context["raced"] = list(dict.fromkeys(names))
        return groups

    @field_validator("contenders", "sources")
    @classmethod
    def let_tables_name(cls, value: Any, info: ValidationInfo[dict[str, Any]]) -> Any:
        info.context[info.field_name or ""] = value
        return value


def parse_study(
    text: str, designs: Sequence[Design], folder: Path | None = None, *, with_claims: bool = True
) -> Study:
    """Parses a study for a server that has these designs.

    Without its claims only files of requests are read: a resumed race has the claims in its ledger.
    """
    folder = (folder or Path()).absolute()
    context: dict[str, Any] = {
        "designs": {design.name: design for design in designs},
        "folder": folder,
        "sources": {},
        "with_claims": with_claims,
    }
    table = keys.read(StudyTable, keys.content_of(text, "the study"), **context)
    contenders = table.contenders
    cells = all_cells(table.cells, [*context["designs"], *contenders], contenders)
    missing = {design.name: design.missing for design in designs if design.missing}
    for name, contender in contenders.items():
        if why := contender.missing(folder):
            missing[name] = why
    raced, left_out = without(cells, missing)
    check_slices(table, raced)
    away = table.placement.placement in {limits.CONTAINERS, limits.HOSTS}
    if away and (names := [name for name, of in contenders.items() if of.body is not None]):
        raise StudyError(f"`contenders.{names[0]}.body` is only for clients of this machine")
    return Study.model_construct(
        **dict(table.race),
        **dict(table.placement),
        name=table.name,
        title=table.title or table.name,
        events=table.events,
        cells=raced,
        contenders=contenders,
        baseline=table.baseline,
        left_out=left_out,
        toml=text,
        folder=folder,
        claims=read_claims(table.claim, cells, table.sources, folder) if with_claims else (),
        sources=table.sources,
    )


def check_slices(table: StudyTable, cells: Sequence[Cell]) -> None:
    """With slices servers run at the same time: each needs a port of its own."""
    race = table.race
    if race.alone_blocks and (race.slices == 1 or all(cell.scope == PROCESS for cell in cells)):
        raise StudyError(
            "`race.alone_blocks` measures how servers that run at the same time affect each other, "
            "but in this study each runs alone; remove it, or set `race.slices`"
        )
    for name in dict.fromkeys(cell.contender for cell in cells) if race.slices > 1 else ():
        if (contender := table.contenders.get(name)) is None:
            continue
        if contender.port is not None:
            raise StudyError(
                f"`contenders.{name}.port` is fixed, but with `race.slices` servers run at the "
                "same time and need other ports; remove `race.slices`"
            )
        if contender.setup is not None or contender.teardown is not None:
            raise StudyError(
                f"`contenders.{name}` has a `setup` or `teardown`, but with `race.slices` servers "
                "run at the same time, and it would change what others use; remove `race.slices`"
            )


def leave_out(study: Study, missing: Mapping[str, str]) -> Study:
    """The study without what cannot run where it is raced."""
    cells, left_out = without(study.cells, missing)
    return study.but(cells=cells, left_out={**study.left_out, **left_out})


def without(
    cells: Sequence[Cell], missing: Mapping[str, str]
) -> tuple[tuple[Cell, ...], dict[str, str]]:
    """The cells without these, and the reasons for those that the study names."""
    named = {cell.contender for cell in cells}
    left_out = {name: why for name, why in missing.items() if name in named}
    raced = tuple(cell for cell in cells if cell.contender not in left_out)
    if not raced:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise StudyError(f"nothing of the study can run here ({why})")
    return raced, left_out


def load_study(path: Path, designs: Sequence[Design]) -> Study:
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
WHY_BLOCKS = BLOCKS
"""Sampled blocks that `--why` adds: so many show what makes a difference."""
FEWEST = 2
"""Counted blocks, and blocks of searches: an interval needs two."""


def cut_blocks(study: Study) -> Study:
    """One sitting, and no alone blocks: these check the other blocks, and need six.

    A study that is already this short is returned unchanged.
    """
    cut: dict[str, Any] = {
        "blocks": min(study.blocks, BLOCKS),
        "counted_blocks": min(study.counted_blocks, FEWEST),
        "alone_blocks": 0,
        "sampled_blocks": min(study.sampled_blocks, WHY_BLOCKS),
        "sittings": 1,
        "width_percent": None,
    }
    if matched_cells(study.cells):
        cut["search_blocks"] = min(study.search_blocks, FEWEST)
    if all(getattr(study, name) == value for name, value in cut.items()):
        return study
    return study.but(quick=True, **cut, pause_s=0, most_blocks=None)
