"""What a race tells while it runs, as plain data: a display draws it, a test reads it."""

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
    """Which race it is, and where it runs."""

    name: str
    title: str
    folder: Path
    seed: int
    placement: str
    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]


@dataclass(frozen=True)
class SearchStarted:
    """Before the race: searching what each contender holds."""

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
    """None: a closed load, which shows the client's limit."""


@dataclass(frozen=True)
class Searched:
    """A contender's held rate in one block is known, or its latencies are."""

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
    """Seed of the order of our server's functions; None: as built."""
    environment_bytes: int


@dataclass(frozen=True)
class Pausing:
    """The race rests before its next sitting."""

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
    """What disturbed it, in words, if it is not repeated."""


@dataclass(frozen=True)
class TrialDisturbed:
    """A trial that is in the ledger and will be repeated."""

    number: int
    planned: PlannedTrial
    cell: Cell
    attempt: int
    disturbed: str | None
    """None: it is repeated along with a disturbed trial it is compared with; or it was
    said before what disturbed it."""


@dataclass(frozen=True)
class Note:
    """Something that the user should know now."""

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
    """Takes the events of a race; used in a `with` statement."""

    def __call__(self, event: Event) -> None: ...
    def __enter__(self) -> Display: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
