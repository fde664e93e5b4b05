"""The events that a race reports while it runs, as plain data for displays and tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from regatta.ledger.cell import Cell
from regatta.ledger.planned import PlannedTrial


@dataclass(frozen=True)
class About:
    """The race's identity and placement."""

    name: str
    title: str
    folder: Path
    seed: int
    placement: str
    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]


@dataclass(frozen=True)
class SearchStarted:
    """Before the race, the rate that each contender holds is searched."""

    about: About
    contenders: int
    blocks: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Searching:
    """A rate is being tried."""

    cell: Cell
    block: int
    blocks: int
    rate: int | None
    """None: a closed load, which measures the client's limit."""


@dataclass(frozen=True)
class Searched:
    """A contender's held rate or latencies in one block have been measured."""

    cell: Cell
    block: int
    blocks: int
    number: int
    turns: int
    says: str
    left_s: float


@dataclass(frozen=True)
class Started:
    """The race begins or resumes."""

    about: About
    trials: int
    done: int
    notes: tuple[str, ...]
    sittings: int = 1


@dataclass(frozen=True)
class SittingStarted:
    """One of several sittings begins or resumes."""

    number: int
    of: int
    link_order: int | None
    """Seed of the order in which our server's functions are linked; None: as built."""
    environment_bytes: int


@dataclass(frozen=True)
class Pausing:
    """The race pauses before its next sitting."""

    next_sitting: int
    pause_s: int


@dataclass(frozen=True)
class TrialStarted:
    number: int
    planned: PlannedTrial
    cell: Cell


@dataclass(frozen=True)
class TrialFinished:
    number: int
    planned: PlannedTrial
    cell: Cell
    failed: str | None
    cpu_us_per_request: float | None
    left: int
    left_s: float
    disturbed: str | None = None
    """What disturbed it, if it is not repeated."""


@dataclass(frozen=True)
class TrialDisturbed:
    """A recorded trial that will be repeated."""

    number: int
    planned: PlannedTrial
    cell: Cell
    attempt: int
    disturbed: str | None
    """None: the cause was already reported, or another trial of its heat was disturbed."""


@dataclass(frozen=True)
class Note:
    """A message for the user."""

    text: str


@dataclass(frozen=True)
class Finished:
    """Every planned trial is in the ledger."""

    folder: Path
    failures: tuple[str, ...]
    elapsed_s: float


Event = (
    SearchStarted
    | Searching
    | Searched
    | Started
    | SittingStarted
    | Pausing
    | TrialStarted
    | TrialDisturbed
    | TrialFinished
    | Note
    | Finished
)
Tell = Callable[[Event], None]


class Display(Protocol):
    """Shows the events of a race; used in a `with` statement."""

    def __call__(self, event: Event) -> None: ...
    def __enter__(self) -> Display: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
