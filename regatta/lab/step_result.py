"""The result of a step: plain data, saved in the lab's state and shown in its report."""

from dataclasses import dataclass
from typing import Any

from regatta.show.view import Table


@dataclass(frozen=True)
class CommandOutput:
    command: str
    output: str


@dataclass(frozen=True)
class Picture:
    name: str
    """Of its file, without the extension."""
    title: str
    says: str
    spec: dict[str, Any]
    """Vega-Lite, without `config`."""


@dataclass(frozen=True)
class StepResult:
    said: tuple[str, ...] = ()
    """Sentences below the tables and pictures."""
    printed: tuple[CommandOutput, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
