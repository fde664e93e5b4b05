"""From the text of a study to a Study, or to one clear line about what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import ValidationInfo, field_validator

from regatta.errors import StudyError
from regatta.ledger.cell import PROCESS, Cell
from regatta.ledger.counters import EVENTS
from regatta.ledger.given.claim import Claim
from regatta.study import limits
from regatta.study.baseline import BaselineForm, read_baseline
from regatta.study.cells import read_cells
from regatta.study.claims.parse import read_claims
from regatta.study.claims.sources import Source
from regatta.study.contender import Contender
from regatta.study.design import Design
from regatta.study.form import Form, Many, Must, Text, one_of, read, wrong
from regatta.study.placement import PlacementForm
from regatta.study.race import RaceForm
from regatta.study.toml import content_of, text_of


class Study(RaceForm, PlacementForm):
    """A whole study, checked: what `[race]` and `[placement]` say, and all else."""

    name: str
    title: str
    events: tuple[str, ...]
    cells: tuple[Cell, ...]
    contenders: Mapping[str, Contender]
    baseline: BaselineForm | None
    left_out: Mapping[str, str]
    """Designs that the study names and this machine cannot run, and why."""
    toml: str
    folder: Path
    """Where the study lies: what it names beside itself is found from there."""
    claims: tuple[Claim, ...] = ()
    sources: Mapping[str, Source] = {}
    quick: bool = False
    """Whether a first look was asked for: its blocks are cut (quick.py)."""

    def but(self, **changes: Any) -> Study:
        """The same with other values."""
        assert changes.keys() <= type(self).model_fields.keys()
        return self.model_copy(update=changes)


class StudyForm(Form):
    """A study, as it is written; what rests on the rest is read after it."""

    name: Annotated[
        str, Must(f"{limits.NAME_NEEDED} (a folder's name)", limits.NAME_PATTERN.fullmatch)
    ]
    title: Text | None = None
    race: RaceForm = RaceForm()
    placement: PlacementForm = PlacementForm()
    events: Many[Annotated[str, one_of(EVENTS)]] = EVENTS
    baseline: Any = None
    contenders: dict[str, Contender] = {}
    cells: list[Any] = []
    sources: dict[str, Source] = {}
    claim: list[Any] = []

    @field_validator("contenders", mode="before")
    @classmethod
    def check_names(cls, value: Any, info: ValidationInfo) -> Any:
        for name in value if isinstance(value, dict) else ():
            if not limits.NAME_PATTERN.fullmatch(name):
                raise wrong(name, f"is not a valid name: it must be {limits.NAME_NEEDED}")
            if info.context and name in info.context["designs"]:
                raise wrong(name, "has the name of a design; give it another")
        return value


def parse_study(
    text: str, designs: Sequence[Design], folder: Path | None = None, *, with_claims: bool = True
) -> Study:
    """The study that the text describes, for a server that has these designs.

    Without its claims no other file is read: a race that goes on has them in its ledger.
    """
    content = content_of(text, "the study")
    written = read(StudyForm, content, designs=[design.name for design in designs])
    folder = (folder or Path()).absolute()
    cells = read_cells(written.cells, designs, written.contenders)
    raced, left_out = without_missing(cells, designs)
    check_company(written.race, raced)
    claims = read_claims(written.claim, cells, written.sources, folder) if with_claims else ()
    return Study.model_construct(
        **dict(written.race),
        **dict(written.placement),
        name=written.name,
        title=written.title or written.name,
        events=written.events,
        cells=raced,
        contenders=written.contenders,
        baseline=read_baseline(written.baseline, cells),
        left_out=left_out,
        toml=text,
        folder=folder,
        claims=claims,
        sources=written.sources,
    )


def check_company(race: RaceForm, cells: Sequence[Cell]) -> None:
    """Where nobody stands beside another there is nothing to be checked."""
    if race.alone_blocks and (race.slices == 1 or all(cell.scope == PROCESS for cell in cells)):
        raise StudyError(
            "`race.alone_blocks` measures what servers that run at the same time cost each other, "
            "and in this study each runs alone; remove it, or set `race.slices`"
        )


def without_missing(
    cells: Sequence[Cell], designs: Sequence[Design]
) -> tuple[tuple[Cell, ...], dict[str, str]]:
    """The cells that can be raced here, and why the others cannot."""
    missing = {design.name: design.missing for design in designs if design.missing}
    return without(cells, missing)


def leave_out(study: Study, missing: Mapping[str, str]) -> Study:
    """The study without designs that cannot run where it is raced, and why they cannot."""
    cells, left_out = without(study.cells, missing)
    return study.but(cells=cells, left_out={**study.left_out, **left_out})


def without(
    cells: Sequence[Cell], missing: Mapping[str, str]
) -> tuple[tuple[Cell, ...], dict[str, str]]:
    """The cells of all others, and the reasons that matter."""
    left_out = {name: missing[name] for name in missing if any(c.contender == name for c in cells)}
    raced = tuple(cell for cell in cells if cell.contender not in left_out)
    if not raced:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise StudyError(f"no design of the study can run here ({why})")
    return raced, left_out


def load_study(path: Path, designs: Sequence[Design]) -> Study:
    """Reads and checks a study file."""
    text = text_of(path)
    try:
        return parse_study(text, designs, path.resolve().parent)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error
