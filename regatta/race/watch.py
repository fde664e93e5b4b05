"""Watches a running race: reports its progress, and ends one that cannot succeed."""

import time

from regatta.errors import RegattaError
from regatta.ledger.cell import Cell
from regatta.ledger.planned import PlannedTrial
from regatta.ledger.result import FAILED, Result
from regatta.race.events import Tell, TrialDisturbed, TrialFinished, TrialStarted
from regatta.study import Study

# If the first trials all fail, more of them will not help.
FAILURES_THAT_STOP = 5


class Watch:
    """Reports the race's progress, and stops one that cannot succeed."""

    def __init__(self, study: Study, trials: int, left: int, tell: Tell) -> None:
        self.tell = tell
        self.trials = trials
        self.left = left
        self.numbers: dict[PlannedTrial, int] = {}
        self.done = 0
        self.started_s = time.monotonic()
        self.contenders = {cell.contender for cell in study.cells}
        self.tried: set[str] = set()
        self.reasons: list[str] = []
        self.before = trials - left

    def number(self, planned: PlannedTrial) -> int:
        """The same for all attempts of a trial."""
        return self.numbers.setdefault(planned, self.before + len(self.numbers) + 1)

    def begins(self, planned: PlannedTrial, cell: Cell) -> None:
        self.tell(TrialStarted(self.number(planned), planned, cell))

    def dropped(self, trials: int) -> None:
        """So many of the remaining trials are not needed."""
        self.left -= trials

    def undone(self, planned: PlannedTrial, cell: Cell, attempt: int) -> None:
        """A finished trial is repeated after all, with those it is compared with."""
        self.left += 1
        self.tell(TrialDisturbed(self.number(planned), planned, cell, attempt, None))

    def ended(
        self, planned: PlannedTrial, cell: Cell, result: Result, again_after: int | None = None
    ) -> None:
        """`again_after`: it is repeated, after so many attempts."""
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
