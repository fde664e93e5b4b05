"""From the text of a study to a Study, or to one clear line about what is wrong with it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regatta.errors import StudyError
from regatta.study.baseline import Baseline, read_baseline
from regatta.study.cell import PROCESS, Cell
from regatta.study.cells import all_cells
from regatta.study.claims.claim import Claim, Source
from regatta.study.claims.parse import read_claims, read_sources
from regatta.study.contender import Contender, read_contenders
from regatta.study.design import Design
from regatta.study.limits import (
    DEFAULT_BLOCKS,
    DEFAULT_COUNTED_BLOCKS,
    DEFAULT_DISTURBANCE_LIMIT_PERCENT,
    DEFAULT_SEARCH_BLOCKS,
    DEFAULT_WARMUP_ROUNDS,
    EVENTS,
    MAX_BLOCKS,
    MAX_CPU,
    MAX_DISTURBANCE_PERCENT,
    MAX_SEARCH_BLOCKS,
    MAX_SEED,
    MAX_SITTINGS,
    MAX_SLICES,
    MAX_WARMUP_ROUNDS,
    MAX_WIDTH_PERCENT,
    MIN_DISTURBANCE_PERCENT,
    MIN_WIDTH_PERCENT,
    NAME_NEEDED,
    NAME_PATTERN,
    PLACEMENTS,
    STEERINGS,
)
from regatta.study.pause import parse_pause
from regatta.study.table import Table, subtable

RACE_KEYS = (
    "blocks",
    "counted_blocks",
    "alone_blocks",
    "slices",
    "sittings",
    "pause",
    "width_percent",
    "most_blocks",
    "seed",
    "search_blocks",
    "warmup_rounds",
    "disturbance_limit_percent",
)
CLAIMS = ("sources", "claim")
TOP_KEYS = (
    *("name", "title", "race", "placement", "events", "baseline", "contenders", "cells"),
    *CLAIMS,
)


@dataclass(frozen=True)
class Width:
    """A race that ends when it is exact enough, and never because of what it found."""

    percent: float
    """Every interval of a lead in the standings must be narrower: its upper end over its lower."""
    most_blocks: int
    """Timed blocks after which it ends anyway; it has at least the study's `blocks`."""


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
    search_blocks: int = DEFAULT_SEARCH_BLOCKS
    """How often it is searched what each contender holds, where a load is matched."""
    sittings: int = 1
    """How often all of it is raced, each time with fresh networks and servers linked anew."""
    pause_s: int = 0
    """Between two sittings."""
    alone_blocks: int = 0
    """Further ones in which nobody stands beside the server that is raced."""
    claims: tuple[Claim, ...] = ()
    sources: tuple[Source, ...] = ()


def parse_cpus(text: str, option: str) -> tuple[int, ...]:
    """Reads `0`, `0,2` or `2-5,7`, as taskset writes them."""
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", part)
        if match is None:
            raise StudyError(f"{option} is {text!r}; write CPUs as 0 or 0,2 or 2-5")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last > MAX_CPU:
            raise StudyError(f"{option} is {text!r}; write CPUs as 0 or 0,2 or 2-5")
        numbers += range(first, last + 1)
    return tuple(sorted(set(numbers)))


def cpus(table: Table, key: str) -> tuple[int, ...] | None:
    if not table.has(key):
        return None
    value = table.content[key]
    if isinstance(value, str):
        return parse_cpus(value, f"`{table.named(key)}`")
    return tuple(sorted(table.integers(key, None, 0, MAX_CPU)))


def parse_study(text: str, designs: Sequence[Design], folder: Path | None = None) -> Study:
    """The study that the text describes, for a server that has these designs."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"the study is not valid TOML: {error}; correct it") from error
    top = Table(content, "", TOP_KEYS)
    if not top.has("name"):
        raise StudyError('the study has no `name`; add one, for example name = "mine"')
    name = top.text("name", "")
    if not NAME_PATTERN.fullmatch(name):
        raise top.fail("name", f"{NAME_NEEDED} (a folder's name)")
    race = subtable(content, "race", RACE_KEYS)
    blocks = race.integer("blocks", DEFAULT_BLOCKS, 1, MAX_BLOCKS)
    width = read_width(race, blocks)
    sittings = race.integer("sittings", 1, 1, MAX_SITTINGS)
    if width is not None and sittings > 1:
        raise StudyError(
            "`race.width_percent` and `race.sittings` exclude each other: what is exact within one "
            "sitting may be far off in the next; say how many `blocks` each has"
        )
    slices = race.integer("slices", 1, 1, MAX_SLICES)
    placement = subtable(content, "placement", ("kind", "server_cpus", "client_cpus", "steering"))
    contenders = read_contenders(content, [design.name for design in designs])
    cells = all_cells(content.get("cells"), designs, contenders)
    raced, left_out = without_missing(cells, designs)
    return Study(
        name=name,
        title=top.text("title", name),
        blocks=blocks,
        counted_blocks=race.integer("counted_blocks", DEFAULT_COUNTED_BLOCKS, 0, MAX_BLOCKS),
        width=width,
        slices=slices,
        seed=race.integer("seed", 0, 0, MAX_SEED) if race.has("seed") else None,
        warmup_rounds=race.integer("warmup_rounds", DEFAULT_WARMUP_ROUNDS, 0, MAX_WARMUP_ROUNDS),
        placement=placement.choice("kind", "auto", PLACEMENTS),
        server_cpus=cpus(placement, "server_cpus"),
        client_cpus=cpus(placement, "client_cpus"),
        steering=placement.choice("steering", STEERINGS[0], STEERINGS),
        events=tuple(top.choices("events", list(EVENTS), EVENTS)),
        cells=raced,
        contenders=contenders,
        baseline=read_baseline(content, sorted({cell.contender for cell in cells})),
        left_out=left_out,
        toml=text,
        disturbance_limit_percent=read_disturbance_limit(race),
        folder=(folder or Path()).absolute(),
        search_blocks=race.integer("search_blocks", DEFAULT_SEARCH_BLOCKS, 2, MAX_SEARCH_BLOCKS),
        sittings=sittings,
        pause_s=parse_pause(race.text("pause", "0s"), "`race.pause`"),
        alone_blocks=read_alone_blocks(race, slices, raced),
        claims=read_claims(content, cells),
        sources=read_sources(content),
    )


def read_disturbance_limit(race: Table) -> float:
    if not race.has("disturbance_limit_percent"):
        return DEFAULT_DISTURBANCE_LIMIT_PERCENT
    return race.number(
        "disturbance_limit_percent", MIN_DISTURBANCE_PERCENT, MAX_DISTURBANCE_PERCENT
    )


def read_alone_blocks(race: Table, slices: int, cells: Sequence[Cell]) -> int:
    """Where nobody stands beside another there is nothing to be checked."""
    count = race.integer("alone_blocks", 0, 0, MAX_BLOCKS)
    if count and (slices == 1 or all(cell.scope == PROCESS for cell in cells)):
        raise StudyError(
            "`race.alone_blocks` checks what the company does that `race.slices` makes, and in "
            "this study every server stands alone; leave it out, or add slices"
        )
    return count


def read_width(race: Table, blocks: int) -> Width | None:
    """`width_percent` and `most_blocks`, which need each other."""
    keys = ("width_percent", "most_blocks")
    given = [key for key in keys if race.has(key)]
    if not given:
        return None
    if len(given) == 1:
        missing = next(key for key in keys if key not in given)
        raise StudyError(f"`race.{given[0]}` needs `race.{missing}` too; add it")
    return Width(
        race.number("width_percent", MIN_WIDTH_PERCENT, MAX_WIDTH_PERCENT),
        race.integer("most_blocks", blocks, blocks, MAX_BLOCKS),
    )


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
