"""A study: a TOML file that says which cells are raced, and how often.

Everything is checked before anything starts. Each complaint names the key and what it may be.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regatta.errors import StudyError

WORKS = ("scan", "snapshot")
LOADS = ("burst", "closed")
ENGINES = ("thread", "fork", "epoll")
DIALECTS = ("line", "http")
PLACEMENTS = ("auto", "netns", "loopback")
EVENTS = (
    "task-clock",
    "cpu-clock",
    "context-switches",
    "cpu-migrations",
    "page-faults",
    "cycles",
    "instructions",
    "branches",
    "branch-misses",
    "cache-references",
    "cache-misses",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "syscalls",
    "topdown",
)

# A limit on everything that a study can make grow.
MAX_CONNECTIONS = 65_536
MAX_ROUNDS = 1_000_000
MAX_REQUESTS = 10_000_000
MAX_DURATION_S = 3_600.0
MAX_BLOCKS = 10_000
MAX_CELLS = 10_000
MAX_TOP = 64
MAX_AGE_MS = 3_600_000
MAX_CPU = 65_535
MAX_SEED = 2**63 - 1
MAX_WARMUP_ROUNDS = 1_000

DEFAULT_BLOCKS = 10
DEFAULT_COUNTED_BLOCKS = 2
DEFAULT_WARMUP_ROUNDS = 1
DEFAULT_REQUESTS = 200
DEFAULT_TOP = 2
DEFAULT_MAX_AGE_MS = 100

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Cell:
    """One combination of contender, work and load."""

    contender: str
    contender_order: int
    work: str
    load: str
    connections: int
    engine: str
    dialect: str
    rounds: int | None
    duration_s: float | None
    per_connection: int | None
    top: int
    max_age_ms: int

    def label(self) -> str:
        """How the progress display names it."""
        number = f"{self.connections} connection{'' if self.connections == 1 else 's'}"
        parts = [self.contender, number, self.work, self.load, self.engine]
        if self.dialect != "line":
            parts.append(self.dialect)
        return " · ".join(parts)

    def identity(self) -> tuple[object, ...]:
        """What tells two cells apart in the ledger."""
        return (
            self.contender,
            self.work,
            self.load,
            self.connections,
            self.engine,
            self.dialect,
            self.rounds,
            self.duration_s,
            self.per_connection,
        )


@dataclass(frozen=True)
class Study:
    """A whole study, checked."""

    name: str
    title: str
    blocks: int
    counted_blocks: int
    seed: int | None
    warmup_rounds: int
    placement: str
    server_cpus: tuple[int, ...] | None
    client_cpus: tuple[int, ...] | None
    events: tuple[str, ...]
    cells: tuple[Cell, ...]
    toml: str


class Table:
    """One TOML table being read: knows its place for the messages, and which keys were used."""

    def __init__(self, content: dict[str, Any], place: str, known: Sequence[str]) -> None:
        self.content = content
        self.place = place
        for key in content:
            if key not in known:
                raise StudyError(
                    f"unknown key `{self.named(key)}`; allowed here: {', '.join(known)}"
                )

    def named(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def fail(self, key: str, needed: str) -> StudyError:
        return StudyError(f"`{self.named(key)}` is {self.content[key]!r}; it must be {needed}")

    def has(self, key: str) -> bool:
        return key in self.content

    def text(self, key: str, default: str) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str) or not value or not value.isprintable():
            raise self.fail(key, "a text of printable characters")
        return value

    def integer(self, key: str, default: int, low: int, high: int) -> int:
        value = self.content.get(key, default)
        if not is_integer(value, low, high):
            raise self.fail(key, f"a whole number from {low} to {high}")
        return int(value)

    def seconds(self, key: str, high: float) -> float:
        value = self.content[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= high:
            raise self.fail(key, f"a number of seconds above 0 and up to {high:g}")
        return float(value)

    def choice(self, key: str, default: str, allowed: Sequence[str]) -> str:
        value = self.content.get(key, default)
        if value not in allowed:
            raise self.fail(key, f"one of {', '.join(allowed)}")
        return str(value)

    def list_of(self, key: str, default: object, accept: Callable[[Any], bool], needed: str) -> Any:
        """A list, or one value that stands for a list of one; no value may come twice."""
        value = self.content.get(key, default)
        values = value if isinstance(value, list) else [value]
        if not values:
            raise self.fail(key, f"a list that is not empty; each value: {needed}")
        for entry in values:
            if not accept(entry):
                raise StudyError(f"`{self.named(key)}` holds {entry!r}; it must be {needed}")
        if len(set(values)) != len(values):
            raise self.fail(key, "a list in which nothing comes twice")
        return values

    def choices(self, key: str, default: object, allowed: Sequence[str]) -> list[str]:
        needed = f"one of {', '.join(allowed)}"
        values: list[str] = self.list_of(
            key, default, lambda entry: isinstance(entry, str) and entry in allowed, needed
        )
        return values

    def integers(self, key: str, low: int, high: int) -> list[int]:
        values: list[int] = self.list_of(
            key,
            None,
            lambda entry: is_integer(entry, low, high),
            f"a whole number from {low} to {high}",
        )
        return values


def is_integer(value: object, low: int, high: int) -> bool:
    """True for a whole number in the range; TOML's true and false are no numbers."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def subtable(content: dict[str, Any], key: str, known: Sequence[str]) -> Table:
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise StudyError(f"`{key}` must be a table; write [{key}]")
    return Table(value, key, known)


CELL_KEYS = (
    "designs",
    "connections",
    "work",
    "load",
    "engine",
    "dialect",
    "requests",
    "rounds",
    "duration_s",
    "per_connection",
    "top",
    "max_age_ms",
)


def burst_rounds(table: Table, connections: int) -> int:
    """How many rounds a burst of that many connections needs to reach the aimed requests."""
    if table.has("rounds"):
        return table.integer("rounds", 1, 1, MAX_ROUNDS)
    requests = table.integer("requests", DEFAULT_REQUESTS, 1, MAX_REQUESTS)
    return -(-requests // connections)


def check_load_keys(table: Table, loads: Sequence[str]) -> None:
    """Keys that belong to a load which the group does not have are mistakes, not wishes."""
    if "closed" in loads and not table.has("duration_s"):
        raise StudyError(f"`{table.place}` has the load closed and no `duration_s`; add it")
    if "burst" not in loads:
        for key in ("rounds", "requests"):
            if table.has(key):
                raise StudyError(
                    f"`{table.named(key)}` is for the load burst; use `duration_s` for closed"
                )
    if "closed" not in loads:
        for key in ("duration_s", "per_connection"):
            if table.has(key):
                raise StudyError(
                    f"`{table.named(key)}` is for the load closed; use `requests` for burst"
                )
    if table.has("rounds") and table.has("requests"):
        raise StudyError(f"`{table.place}` has both `rounds` and `requests`; keep one of them")


def group_cells(content: dict[str, Any], place: str, designs: Sequence[str]) -> list[Cell]:
    """One [[cells]] group: the cross product of its lists."""
    table = Table(content, place, CELL_KEYS)
    for key in ("designs", "connections"):
        if not table.has(key):
            raise StudyError(f"`{place}` has no `{key}`; add it")
    names = table.choices("designs", None, designs)
    connections = table.integers("connections", 1, MAX_CONNECTIONS)
    works = table.choices("work", "scan", WORKS)
    loads = table.choices("load", "burst", LOADS)
    engines = table.choices("engine", "epoll", ENGINES)
    dialects = table.choices("dialect", "line", DIALECTS)
    check_load_keys(table, loads)
    duration_s = table.seconds("duration_s", MAX_DURATION_S) if table.has("duration_s") else None
    per_connection = table.integer("per_connection", 0, 0, MAX_REQUESTS)
    top = table.integer("top", DEFAULT_TOP, 1, MAX_TOP)
    max_age_ms = table.integer("max_age_ms", DEFAULT_MAX_AGE_MS, 1, MAX_AGE_MS)
    if table.has("max_age_ms") and "snapshot" not in works:
        raise StudyError(f"`{place}.max_age_ms` is for the work snapshot; remove it")
    product = itertools.product(works, loads, dialects, engines, connections, names)
    return [
        Cell(
            contender=name,
            contender_order=designs.index(name),
            work=work,
            load=load,
            connections=count,
            engine=engine,
            dialect=dialect,
            rounds=burst_rounds(table, count) if load == "burst" else None,
            duration_s=duration_s if load == "closed" else None,
            per_connection=per_connection if load == "closed" else None,
            top=top,
            max_age_ms=max_age_ms,
        )
        for work, load, dialect, engine, count, name in product
    ]


def all_cells(groups: object, designs: Sequence[str]) -> tuple[Cell, ...]:
    if not isinstance(groups, list) or not groups:
        raise StudyError("a study needs at least one group of cells; write [[cells]]")
    cells: list[Cell] = []
    for number, group in enumerate(groups, start=1):
        if not isinstance(group, dict):
            raise StudyError("`cells` must be groups; write [[cells]]")
        cells += group_cells(group, f"cells[{number}]", designs)
    if len(cells) > MAX_CELLS:
        raise StudyError(f"the study has {len(cells)} cells; the most is {MAX_CELLS}")
    seen: set[tuple[object, ...]] = set()
    for cell in cells:
        if cell.identity() in seen:
            raise StudyError(f"the cell `{cell.label()}` comes twice; remove one of them")
        seen.add(cell.identity())
    return tuple(cells)


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
    return tuple(sorted(table.integers(key, 0, MAX_CPU)))


def parse_study(text: str, designs: Sequence[str]) -> Study:
    """The study that the text describes, for a server that has these designs."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"the study is not valid TOML: {error}; correct it") from error
    top = Table(content, "", ("name", "title", "race", "placement", "events", "cells"))
    if not top.has("name"):
        raise StudyError('the study has no `name`; add one, for example name = "mine"')
    name = top.text("name", "")
    if not NAME_PATTERN.fullmatch(name):
        raise top.fail("name", "letters, digits, `-`, `_` and `.`, at most 64 (a folder's name)")
    race = subtable(content, "race", ("blocks", "counted_blocks", "seed", "warmup_rounds"))
    placement = subtable(content, "placement", ("kind", "server_cpus", "client_cpus"))
    return Study(
        name=name,
        title=top.text("title", name),
        blocks=race.integer("blocks", DEFAULT_BLOCKS, 1, MAX_BLOCKS),
        counted_blocks=race.integer("counted_blocks", DEFAULT_COUNTED_BLOCKS, 0, MAX_BLOCKS),
        seed=race.integer("seed", 0, 0, MAX_SEED) if race.has("seed") else None,
        warmup_rounds=race.integer("warmup_rounds", DEFAULT_WARMUP_ROUNDS, 0, MAX_WARMUP_ROUNDS),
        placement=placement.choice("kind", "auto", PLACEMENTS),
        server_cpus=cpus(placement, "server_cpus"),
        client_cpus=cpus(placement, "client_cpus"),
        events=tuple(top.choices("events", list(EVENTS), EVENTS)),
        cells=all_cells(content.get("cells"), designs),
        toml=text,
    )


def shipped_folders() -> list[Path]:
    """Where the studies of the project lie: in an installed package, or in the repository."""
    package = Path(__file__).resolve().parent
    return [package / "studies", package.parent / "studies"]


def shipped_names() -> list[str]:
    found = {path.stem for folder in shipped_folders() for path in folder.glob("*.toml")}
    return sorted(found)


def find_study(name: str) -> Path:
    """A path, or the bare name of a study that ships with the project."""
    path = Path(name)
    if path.is_file():
        return path
    if NAME_PATTERN.fullmatch(name):
        for folder in shipped_folders():
            shipped = folder / f"{name.removesuffix('.toml')}.toml"
            if shipped.is_file():
                return shipped
    shipped_list = ", ".join(shipped_names()) or "none"
    raise StudyError(f"there is no study {name}; name a TOML file, or one of: {shipped_list}")


def load_study(path: Path, designs: Sequence[str]) -> Study:
    """Reads and checks a study file."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text; save it as UTF-8") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise StudyError(f"cannot read {path}: {reason}; name another file") from error
    try:
        return parse_study(text, designs)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error
