"""What a step leaves: plain data, kept in the lab's state and shown in its report."""

from dataclasses import dataclass
from typing import Any

from regatta.report.text.table import Table


@dataclass(frozen=True)
class Printed:
    """A command, and what it printed."""

    command: str
    output: str


@dataclass(frozen=True)
class Picture:
    name: str
    """Of its file, without the ending."""
    title: str
    says: str
    spec: dict[str, Any]
    """Vega-Lite, without a configuration."""


@dataclass(frozen=True)
class Kept:
    said: tuple[str, ...] = ()
    """Sentences."""
    printed: tuple[Printed, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
