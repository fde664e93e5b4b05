"""Reports the progress of a running race, and ends a race that cannot succeed."""

import time

from regatta.errors import HopelessRaceError
from regatta.ledger.cell import Cell
from regatta.ledger.planned import PlannedTrial
from regatta.ledger.result import FAILED, Result
from regatta.race.events import Tell, TrialDisturbed, TrialFinished, TrialStarted
from regatta.study import Study

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

    def dropped(self, trials: int) -> None:
        """This many of the remaining trials are not needed."""
        self.left -= trials

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
        self, planned: PlannedTrial, cell: Cell, result: Result, again_after: int | None = None
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
                cpu_us_per_request=result.cpu_us_per_request(),
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
