"""A cell: what one trial is a trial of."""

from __future__ import annotations

from dataclasses import dataclass, fields

from regatta.study.axes import AXES

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
            parts.append(f"whole {self.scope}")
        return " · ".join(parts)

    def identity(self) -> tuple[object, ...]:
        """What tells two cells of a study apart."""
        return tuple(getattr(self, name) for name in IDENTITY)

    def alike(self) -> tuple[object, ...]:
        """What it shares with the cells that it is compared with: all but who is raced.

        The size of a pool and the path belong to the contender.
        """
        return tuple(getattr(self, name) for name in IDENTITY if name not in OWN)


IDENTITY = tuple(field.name for field in fields(Cell) if field.name != "contender_order")
OWN = ("contender", "workers", "path")
