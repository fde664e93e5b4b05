"""A cell: one combination of contender, work, load and placement; and the quantities that a study
may vary in steps, each of which can be the axis of a table and a chart.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Axis:
    """One quantity of a cell, and the words for it."""

    name: str
    """Name of the cell's field."""
    single: str
    many: str
    quantity: str
    """What varies: `number of connections`."""
    quantities: str
    preposition: str

    def count(self, value: int) -> str:
        """`1 connection`, `1,000 idle connections`."""
        return f"{value:,} {self.single if value == 1 else self.many}"

    def at(self, value: int) -> str:
        """Beginning of a sentence about this value: `At 10 connections`."""
        return f"{self.preposition} {self.count(value)}"

    def over_all(self) -> str:
        return f"Over all {self.quantities}"


def _numbers(name: str, single: str, preposition: str) -> Axis:
    many = f"{single}s"
    return Axis(name, single, many, f"number of {many}", f"numbers of {many}", preposition)


AXES = {
    axis.name: axis
    for axis in (
        _numbers("connections", "connection", "At"),
        Axis("rate", "request/s", "requests/s", "offered rate", "offered rates", "At"),
        _numbers("idle", "idle connection", "With"),
        _numbers("slow", "slow connection", "With"),
        _numbers("workers", "worker", "With"),
    )
}


def choose_axis(cells: Iterable[Any], get: Callable[[Any, str], int | None] = getattr) -> Axis:
    """The quantity that these cells vary; if several, the one with the most steps.

    If nothing varies, the number of connections.
    """
    members = list(cells)
    steps = {
        name: len({value for cell in members if (value := get(cell, name)) is not None})
        for name in AXES
    }
    return AXES[max(AXES, key=lambda name: steps[name])]


WINDOW, PROCESS = "window", "process"
USUAL_ENGINE = "epoll"
TRAITS = (
    "work",
    "load",
    "engine",
    "dialect",
    "duration_s",
    "per_connection",
    "arrivals",
    "top",
    "max_age_ms",
)
"""Properties of the load that do not depend on its size or on the contender."""
AS_STARTED = ("linger_s", "backlog", "counts_taskset", "cold")
"""How the server is started and stopped."""


@dataclass(frozen=True)
class Cell:
    """One combination of contender, work and load. The fields are the ledger's columns."""

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
    rate: int | None = None
    """Open loads: requests per second over all connections."""
    arrivals: str | None = None
    idle: int = 0
    """Additional idle connections."""
    slow: int = 0
    """Additional connections that send and read one byte at a time."""
    workers: int | None = None
    """Size of a pool; None: the design's default."""
    path: str | None = None
    """HTTP path; None: the top processes."""
    scope: str = WINDOW
    """What is counted: the `window` of the load, or the whole life of the server's `process`."""
    linger_s: float = 0.0
    """Scope process: how long the server idles after the load before it is stopped."""
    backlog: int | None = None
    """Length of a design's listen queue; None: the server's default."""
    counts_taskset: bool = False
    """Scope process: `taskset` runs under perf, so that its own cost is counted too."""
    request: str | None = None
    """Request in the line dialect; None: the top processes."""
    until: str | None = None
    """What the reply to `request` ends with, a regular expression; None: as the dialect says."""
    requests: str | None = None
    """HTTP: the contender's file of requests with a digest of its content; None: `path`."""
    cold: int | None = None
    """Only so many requests, the first after the start; None: of a warm server."""
    id: int = 0
    """In the ledger, counted from 1; 0: not in a ledger yet."""
    placement: str = ""
    """Where it was raced; empty: not raced yet."""

    def label(self) -> str:
        """Its name in the progress display."""
        sizes = {axis: getattr(self, axis.name) for axis in AXES.values()}
        parts = [self.contender, *(axis.count(size) for axis, size in sizes.items() if size)]
        # A path or request is of another server, which has no work.
        file = (self.requests or "").partition(" (sha256 ")[0]
        parts += [file or self.path or self.request or self.work, self.load]
        if self.engine != USUAL_ENGINE:
            parts.append(self.engine)
        if self.dialect != "line":
            parts.append(self.dialect)
        if self.scope != WINDOW:
            parts.append(f"whole {self.scope}{' with taskset' if self.counts_taskset else ''}")
        if self.backlog is not None:
            parts.append(f"backlog {self.backlog}")
        if self.cold is not None:
            parts.append(f"cold, the first {self.cold:,} requests")
        return " · ".join(parts)

    def identity(self) -> tuple[object, ...]:
        """The values that distinguish the cells of a study."""
        return tuple(getattr(self, name) for name in IDENTITY)

    def comparison_key(self) -> tuple[object, ...]:
        """Equal for cells that are compared with each other: everything except the contender.

        Pool size and what is asked belong to the contender.
        """
        return tuple(getattr(self, name) for name in IDENTITY if name not in CONTENDER_FIELDS)


def at_last_step(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with the most of what a table varies in steps, where all else is the same; a
    design without it has no steps."""
    found: list[Cell] = []
    for family in alike(cells, (*TRAITS, *AS_STARTED, "scope")):
        axis = choose_axis(family).name
        for row in alike(family, [name for name in AXES if name != axis]):
            last = max(getattr(cell, axis) or 0 for cell in row)
            found += [cell for cell in row if getattr(cell, axis) in (last, None)]
    return found


def alike(cells: Sequence[Cell], names: Sequence[str]) -> Iterable[list[Cell]]:
    """The cells that agree in all of these fields."""
    found: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        found.setdefault(tuple(getattr(cell, name) for name in names), []).append(cell)
    return found.values()


AS_RACED = ("id", "placement")
COLUMNS = tuple(field.name for field in fields(Cell) if field.name not in AS_RACED)
IDENTITY = tuple(name for name in COLUMNS if name != "contender_order")
CONTENDER_FIELDS = ("contender", "workers", "path", "request", "until", "requests")


@dataclass(frozen=True, kw_only=True)
class MatchedCell(Cell):
    """Placeholder for a contender's open cells until all sustained rates are known."""

    shares: tuple[float, ...]
    """All contenders are raced at these shares of the weakest one's sustained rate."""
    p99_limit_ms: float
    """A rate with a higher p99 is not sustained."""
    knee: bool
    """Whether to measure its latency at shares of its own sustained rate, too."""

    def at(self, rate: int, duration_s: float | None = None) -> Cell:
        """The open cell at this rate."""
        values = {field.name: getattr(self, field.name) for field in fields(Cell)}
        cell = Cell(**{**values, "load": "open", "rate": rate})
        if duration_s is None and cell.cold is not None:
            duration_s = cell.cold / rate
        return cell if duration_s is None else replace(cell, duration_s=duration_s)

    def closed(self, duration_s: float) -> Cell:
        """The closed cell, in which each connection sends its next request after each answer."""
        cell = self.at(0, duration_s)
        return replace(cell, load="closed", rate=None, arrivals=None, cold=None)


def matched_cells(cells: Sequence[Cell]) -> list[MatchedCell]:
    """The cells whose rates must be searched, in order."""
    return [cell for cell in cells if isinstance(cell, MatchedCell)]


MATCHED = "matched"


def with_rates(cells: Sequence[Cell], held: Mapping[MatchedCell, float]) -> tuple[Cell, ...]:
    """The cells to race: matched cells become open ones, at shares of the weakest rival's rate.

    Contenders that sustain no rate are left out, and do not count as the weakest.
    """
    weakest: dict[tuple[object, ...], float] = {}
    for cell, rate in held.items():
        if rate > 0:
            weakest[cell.comparison_key()] = min(rate, weakest.get(cell.comparison_key(), rate))
    found: list[Cell] = []
    for each in cells:
        if not isinstance(each, MatchedCell):
            found.append(each)
        elif held[each] > 0:
            rates = {max(1, round(share * weakest[each.comparison_key()])) for share in each.shares}
            found += [each.at(rate) for rate in sorted(rates)]
    return tuple(found)
