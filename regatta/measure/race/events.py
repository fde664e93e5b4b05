"""The events that a race reports while it runs, for displays and tests, and its progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from regatta.errors import HopelessRaceError
from regatta.record.cell import Cell
from regatta.record.records import FAILED, PlannedTrial, Trial
from regatta.record.study import Study


@dataclass(frozen=True)
class About:
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
class RaceNote:
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
    | RaceNote
    | Finished
)
Tell = Callable[[Event], None]


class Display(AbstractContextManager["Display"], Protocol):
    """Shows the events of a race; used in a `with` statement."""

    def __call__(self, event: Event) -> None: ...


# If this many first trials all fail, the race ends.
FAILURES_THAT_STOP = 5


class Progress:
    """Reports the race's progress, and stops a race that cannot succeed."""

    def __init__(self, study: Study, trials: int, left: int, tell: Tell) -> None:
        self.tell = tell
        self.trials = trials
        self.left = left
        self.numbers: dict[PlannedTrial, int] = {}
        self.done = 0
        self.ends = [(time.monotonic(), 0)]
        """When each batch ended, and how many trials were done by then."""
        self.per_trial_s = 0.0
        self.contenders = {cell.contender for cell in study.cells}
        self.tried: set[str] = set()
        self.reasons: list[str] = []
        self.before = trials - left

    def number(self, planned: PlannedTrial) -> int:
        """The same for all attempts of a trial."""
        return self.numbers.setdefault(planned, self.before + len(self.numbers) + 1)

    def begins(self, planned: PlannedTrial, cell: Cell) -> None:
        self.tell(TrialStarted(self.number(planned), planned, cell))

    def undone(self, planned: PlannedTrial, cell: Cell, attempt: int) -> None:
        """A finished trial is repeated after all, as another trial of its heat was disturbed."""
        self.left += 1
        self.tell(TrialDisturbed(self.number(planned), planned, cell, attempt, None))

    def batch_ended(self, trials: int) -> None:
        """This many trials, which ran side by side, have ended: the time is that of all.

        The earlier half of the batches is left out: servers are warmed for longer at first.
        """
        now_s, done = time.monotonic(), self.done + trials
        since_s, before = self.ends[len(self.ends) // 2]
        self.ends.append((now_s, done))
        self.per_trial_s = (now_s - since_s) / (done - before)

    def ended(
        self, planned: PlannedTrial, cell: Cell, result: Trial, again_after: int | None = None
    ) -> None:
        """`again_after`: the number of attempts so far, if the trial will be repeated."""
        if again_after is not None:
            number = self.number(planned)
            self.tell(TrialDisturbed(number, planned, cell, again_after, result.disturbed))
            return
        self.done += 1
        remaining = self.left - self.done
        failed = result.reason if result.status == FAILED else None
        self.tell(
            TrialFinished(
                number=self.number(planned),
                planned=planned,
                cell=cell,
                failed=failed,
                cpu_us_per_request=result.cpu_us_per_request,
                left=remaining,
                left_s=self.per_trial_s * remaining,
                disturbed=result.disturbed,
            )
        )
        self.tried.add(cell.contender)
        if failed is not None:
            self.reasons.append(failed)
        if self.done == len(self.reasons) >= FAILURES_THAT_STOP and self.tried == self.contenders:
            raise HopelessRaceError(
                f"the first {self.done} trials all failed, the last because {self.reasons[-1]}; "
                "correct the cause, then start again"
            )
