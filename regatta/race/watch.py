"""Watches a running race: reports its progress, and ends one that cannot succeed."""

from __future__ import annotations

import time

from regatta.errors import RegattaError
from regatta.ledger.result import FAILED, Result
from regatta.race.events import Tell, TrialDisturbed, TrialFinished, TrialStarted
from regatta.study import Cell, Study
from regatta.study.plan import Planned

# A race whose first trials all fail, whoever races, has a cause that patience does not cure.
FAILURES_THAT_STOP = 5


class Watch:
    """Tells how the race goes on, and stops one that cannot go well."""

    def __init__(self, study: Study, trials: int, left: int, tell: Tell) -> None:
        self.tell = tell
        self.trials = trials
        self.left = left
        self.numbers: dict[Planned, int] = {}
        self.done = 0
        self.started_s = time.monotonic()
        self.contenders = {cell.contender for cell in study.cells}
        self.tried: set[str] = set()
        self.reasons: list[str] = []
        self.before = trials - left

    def number(self, planned: Planned) -> int:
        """Its own for as often as it is run."""
        return self.numbers.setdefault(planned, self.before + len(self.numbers) + 1)

    def begins(self, planned: Planned, cell: Cell) -> None:
        self.tell(TrialStarted(self.number(planned), planned, cell))

    def dropped(self, trials: int) -> None:
        """So many of those that were left are not wanted any more."""
        self.left -= trials

    def undone(self, planned: Planned, cell: Cell, attempt: int) -> None:
        """One that has ended is run again after all, with those that it is compared with."""
        self.left += 1
        self.tell(TrialDisturbed(self.number(planned), planned, cell, attempt, None))

    def ended(
        self, planned: Planned, cell: Cell, result: Result, again_after: int | None = None
    ) -> None:
        """`again_after`: it is run again, after so many attempts."""
        if again_after is not None:
            number = self.number(planned)
            self.tell(TrialDisturbed(number, planned, cell, again_after, result.disturbed))
            return
        self.done += 1
        remaining = self.left - self.done
        per_trial_s = (time.monotonic() - self.started_s) / self.done
        failed = result.reason if result.status == FAILED else None
        self.tell(
            TrialFinished(
                number=self.number(planned),
                planned=planned,
                cell=cell,
                failed=failed,
                cpu_us_per_request=result.cpu_us_per_request(),
                left=remaining,
                left_s=per_trial_s * remaining,
                disturbed=result.disturbed,
            )
        )
        self.tried.add(cell.contender)
        if failed is not None:
            self.reasons.append(failed)
        if self.done == len(self.reasons) >= FAILURES_THAT_STOP and self.tried == self.contenders:
            raise RegattaError(
                f"the first {self.done} trials all failed, the last because {self.reasons[-1]}; "
                "correct the cause and start again"
            )
