"""From the text of a study to a Study, or to one clear line about what is wrong with it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ValidationInfo,
    field_validator,
    model_validator,
)

from regatta.errors import StudyError
from regatta.study import cpus, limits
from regatta.study.baseline import Baseline, read_baseline
from regatta.study.cell import PROCESS, Cell
from regatta.study.cells import read_cells
from regatta.study.claims.claim import Claim
from regatta.study.claims.parse import Source, read_claims
from regatta.study.contender import Contender
from regatta.study.design import Design
from regatta.study.form import Form, Many, Must, Text, must, number, one_of, read, whole, wrong
from regatta.study.pause import parse_pause


@dataclass(frozen=True)
class Width:
    """A race that ends when it is exact enough, and never because of what it found."""

    percent: float
    """Every interval of a lead in the standings must be narrower: its upper end over its lower."""
    most_blocks: int
    """Timed blocks after which it ends anyway; it has at least the study's `blocks`."""


class Race(Form):
    """`[race]`, as it is written."""

    blocks: Annotated[int, whole(1, limits.MAX_BLOCKS)] = limits.DEFAULT_BLOCKS
    counted_blocks: Annotated[int, whole(0, limits.MAX_BLOCKS)] = limits.DEFAULT_COUNTED_BLOCKS
    alone_blocks: Annotated[int, whole(0, limits.MAX_BLOCKS)] = 0
    slices: Annotated[int, whole(1, limits.MAX_SLICES)] = 1
    sittings: Annotated[int, whole(1, limits.MAX_SITTINGS)] = 1
    pause: Text = "0s"
    width_percent: (
        Annotated[float, number(limits.MIN_WIDTH_PERCENT, limits.MAX_WIDTH_PERCENT)] | None
    ) = None
    most_blocks: Annotated[int, whole(1, limits.MAX_BLOCKS)] | None = None
    seed: Annotated[int, whole(0, limits.MAX_SEED)] | None = None
    search_blocks: Annotated[int, whole(2, limits.MAX_SEARCH_BLOCKS)] = limits.DEFAULT_SEARCH_BLOCKS
    warmup_rounds: Annotated[int, whole(0, limits.MAX_WARMUP_ROUNDS)] = limits.DEFAULT_WARMUP_ROUNDS
    disturbance_limit_percent: Annotated[
        float, number(limits.MIN_DISTURBANCE_PERCENT, limits.MAX_DISTURBANCE_PERCENT)
    ] = limits.DEFAULT_DISTURBANCE_LIMIT_PERCENT

    @model_validator(mode="after")
    def check_width(self) -> Self:
        """Both of its keys, or none."""
        for key, other in (("width_percent", "most_blocks"), ("most_blocks", "width_percent")):
            if self.has(key) and not self.has(other):
                raise wrong(key, f"needs `race.{other}` too; add it")
        if self.most_blocks is not None and self.most_blocks < self.blocks:
            raise wrong(
                "most_blocks",
                f"is {self.most_blocks}; it must be a whole number from "
                f"{self.blocks} to {limits.MAX_BLOCKS}",
            )
        if self.width_percent is not None and self.sittings > 1:
            raise wrong(
                "width_percent",
                "and `race.sittings` exclude each other: what is exact within one "
                "sitting may be far off in the next; say how many `blocks` each has",
            )
        return self

    @property
    def width(self) -> Width | None:
        if self.width_percent is None or self.most_blocks is None:
            return None
        return Width(self.width_percent, self.most_blocks)


def read_cpus(value: Any) -> Any:
    try:
        return cpus.cpus_of(value) if isinstance(value, str) else value
    except ValueError as error:
        raise must(cpus.NEEDED) from error


Cpus = Annotated[
    Many[Annotated[int, whole(0, limits.MAX_CPU)]],
    BeforeValidator(read_cpus),
    AfterValidator(lambda found: tuple(sorted(found))),
]


class Sides(Form):
    """`[placement]`, as it is written."""

    kind: Annotated[str, one_of(limits.PLACEMENTS)] = "auto"
    server_cpus: Cpus | None = None
    client_cpus: Cpus | None = None
    steering: Annotated[str, one_of(limits.STEERINGS)] = limits.STEERINGS[0]


class Written(Form):
    """A study, as it is written; what rests on the rest is read after it."""

    name: Annotated[
        str, Must(f"{limits.NAME_NEEDED} (a folder's name)", limits.NAME_PATTERN.fullmatch)
    ]
    title: Text | None = None
    race: Race = Race()
    placement: Sides = Sides()
    events: Many[Annotated[str, one_of(limits.EVENTS)]] = limits.EVENTS
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
                raise wrong(name, f"is no name: it must be {limits.NAME_NEEDED}")
            if info.context and name in info.context["designs"]:
                raise wrong(name, "has the name of a design; give it another")
        return value


@dataclass(frozen=True)
class Study:
    """A whole study, checked."""

    name: str
    title: str
    blocks: int
    counted_blocks: int
    width: Width | None
    """When the race may end early; None: it runs all of its blocks."""
    slices: int
    """Parts of each load; with more than one the servers of a block stand side by side."""
    seed: int | None
    warmup_rounds: int
    placement: str
    server_cpus: tuple[int, ...] | None
    client_cpus: tuple[int, ...] | None
    steering: str
    """Whose CPUs process what arrives, where that may be said."""
    events: tuple[str, ...]
    cells: tuple[Cell, ...]
    contenders: Mapping[str, Contender]
    baseline: Baseline | None
    left_out: Mapping[str, str]
    """Designs that the study names and this machine cannot run, and why."""
    toml: str
    disturbance_limit_percent: float
    """What others may use of a CPU before a trial counts as disturbed and is run again."""
    folder: Path
    """Where the study lies: what it names beside itself is found from there."""
    search_blocks: int = limits.DEFAULT_SEARCH_BLOCKS
    """How often it is searched what each contender holds, where a load is matched."""
    sittings: int = 1
    """How often all of it is raced, each time with fresh networks and servers linked anew."""
    pause_s: int = 0
    """Between two sittings."""
    alone_blocks: int = 0
    """Further ones in which nobody stands beside the server that is raced."""
    claims: tuple[Claim, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)


def parse_study(text: str, designs: Sequence[Design], folder: Path | None = None) -> Study:
    """The study that the text describes, for a server that has these designs."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"the study is not valid TOML: {error}; correct it") from error
    written = read(Written, content, designs=[design.name for design in designs])
    race, placement = written.race, written.placement
    cells = read_cells(written.cells, designs, written.contenders)
    raced, left_out = without_missing(cells, designs)
    return Study(
        name=written.name,
        title=written.title or written.name,
        blocks=race.blocks,
        counted_blocks=race.counted_blocks,
        width=race.width,
        slices=race.slices,
        seed=race.seed,
        warmup_rounds=race.warmup_rounds,
        placement=placement.kind,
        server_cpus=placement.server_cpus,
        client_cpus=placement.client_cpus,
        steering=placement.steering,
        events=written.events,
        cells=raced,
        contenders=written.contenders,
        baseline=read_baseline(written.baseline, cells),
        left_out=left_out,
        toml=text,
        disturbance_limit_percent=race.disturbance_limit_percent,
        folder=(folder or Path()).absolute(),
        search_blocks=race.search_blocks,
        sittings=race.sittings,
        pause_s=parse_pause(race.pause, "`race.pause`"),
        alone_blocks=alone_blocks(race, raced),
        claims=read_claims(written.claim, cells, written.sources),
        sources=written.sources,
    )


def alone_blocks(race: Race, cells: Sequence[Cell]) -> int:
    """Where nobody stands beside another there is nothing to be checked."""
    if race.alone_blocks and (race.slices == 1 or all(cell.scope == PROCESS for cell in cells)):
        raise StudyError(
            "`race.alone_blocks` checks what the company does that `race.slices` makes, and in "
            "this study every server stands alone; leave it out, or add slices"
        )
    return race.alone_blocks


def without_missing(
    cells: Sequence[Cell], designs: Sequence[Design]
) -> tuple[tuple[Cell, ...], dict[str, str]]:
    """The cells that can be raced here, and why the others cannot."""
    missing = {design.name: design.missing for design in designs if design.missing}
    left_out = {name: missing[name] for name in missing if any(c.contender == name for c in cells)}
    raced = tuple(cell for cell in cells if cell.contender not in left_out)
    if not raced:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise StudyError(f"no design of the study can run here ({why})")
    return raced, left_out


def load_study(path: Path, designs: Sequence[Design]) -> Study:
    """Reads and checks a study file."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text; save it as UTF-8") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise StudyError(f"cannot read {path}: {reason}; name another file") from error
    try:
        return parse_study(text, designs, path.resolve().parent)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error
