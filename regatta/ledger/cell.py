"""A cell: what one trial is a trial of."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from regatta.ledger.axes import AXES

WINDOW, PROCESS = "window", "process"
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
"""What a load is like, whoever serves it and however large it is."""
AS_STARTED = ("linger_s", "backlog", "counts_taskset")
"""How the server is started, and how long it is left alone."""


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
    """Of an open load: requests a second, over all connections."""
    arrivals: str | None = None
    idle: int = 0
    """Silent connections beside the measured ones."""
    slow: int = 0
    """Connections beside the measured ones that send and read a byte at a time."""
    workers: int | None = None
    """Of a pool; None leaves it to the design."""
    path: str | None = None
    """What is asked for in HTTP; None asks for the top processes."""
    scope: str = WINDOW
    """What is counted: the `window` of the load, or the whole life of the server's `process`."""
    linger_s: float = 0.0
    """Of the scope process: how long the server idles after the load before it is stopped."""
    backlog: int | None = None
    """Of a design: how many connections may wait to be accepted; None leaves it to the server."""
    counts_taskset: bool = False
    """Of the scope process: `taskset` pins below perf, and what it needs itself is counted too."""
    request: str | None = None
    """The line that is asked in the line dialect; None asks for the top processes."""
    id: int = 0
    """In the ledger, counted from 1; 0: not in one yet."""
    placement: str = ""
    """Where it was raced; empty: nowhere yet."""

    def label(self) -> str:
        """How the progress display names it."""
        parts = [self.contender]
        for axis in AXES.values():
            value = getattr(self, axis.name)
            if value or axis.name == "connections":
                parts.append(axis.count(value))
        parts += [self.work, self.load, self.engine]
        if self.dialect != "line":
            parts.append(self.dialect)
        if self.scope != WINDOW:
            parts.append(f"whole {self.scope}{' with taskset' if self.counts_taskset else ''}")
        if self.backlog is not None:
            parts.append(f"backlog {self.backlog}")
        return " · ".join(parts)

    def identity(self) -> tuple[object, ...]:
        """What tells two cells of a study apart."""
        return tuple(getattr(self, name) for name in IDENTITY)

    def comparison_key(self) -> tuple[object, ...]:
        """What it shares with the cells that it is compared with: all but who is raced.

        The size of a pool, the path and the request belong to the contender.
        """
        return tuple(getattr(self, name) for name in IDENTITY if name not in CONTENDER_FIELDS)


AS_RACED = ("id", "placement")
COLUMNS = tuple(field.name for field in fields(Cell) if field.name not in AS_RACED)
IDENTITY = tuple(name for name in COLUMNS if name != "contender_order")
CONTENDER_FIELDS = ("contender", "workers", "path", "request")


@dataclass(frozen=True, kw_only=True)
class MatchedCell(Cell):
    """Stands for the open cells of a contender until it is known what all of them hold."""

    shares: tuple[float, ...]
    """Of what the weakest holds: the rates that all are raced at."""
    p99_limit_ms: float
    """A rate with a p99 beyond it is not held."""
    knee: bool
    """Whether its latency is measured at shares of what it holds itself, too."""

    def at(self, rate: int, duration_s: float | None = None) -> Cell:
        """The open cell at this rate."""
        values = {field.name: getattr(self, field.name) for field in fields(Cell)}
        cell = Cell(**{**values, "load": "open", "rate": rate})
        return cell if duration_s is None else replace(cell, duration_s=duration_s)

    def closed(self, duration_s: float) -> Cell:
        """The closed cell, in which each connection asks again when it has its answer."""
        cell = self.at(0, duration_s)
        return replace(cell, load="closed", rate=None, arrivals=None)


def matched_cells(cells: Sequence[Cell]) -> list[MatchedCell]:
    """Those whose rates are to be found, in their order."""
    return [cell for cell in cells if isinstance(cell, MatchedCell)]
