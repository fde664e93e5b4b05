"""Which trials are run again: those that something else disturbed, and not without end."""

from __future__ import annotations

from collections.abc import Sequence

from regatta.result import OK, Result

MAX_ATTEMPTS = 3
# So many trials tell whether this machine is ever quiet.
FIRST_TRIALS = 10
BUSY_SHARE = 0.5


class Repeats:
    """Trials side by side are repeated together: what pairs them is that they ran together.

    Where most trials are disturbed another attempt would be too. Then none is repeated, so that a
    race on a busy machine takes the time that it always takes; its trials are marked all the same.
    """

    def __init__(self, trials: int = 0, disturbed: int = 0) -> None:
        self.trials = trials
        """That were run for the first time."""
        self.disturbed = disturbed
        """Of these."""
        self.told = False

    def wanted(self, results: Sequence[Result], attempt: int) -> bool:
        """Whether these trials are to be run again, after so many attempts."""
        disturbed = sum(result.status == OK and result.disturbed is not None for result in results)
        if attempt == 1:
            self.trials += len(results)
            self.disturbed += disturbed
        return disturbed > 0 and attempt < MAX_ATTEMPTS and not self.pointless()

    def pointless(self) -> bool:
        return self.trials >= FIRST_TRIALS and self.disturbed > self.trials * BUSY_SHARE

    def note(self) -> str | None:
        """What a person is told, once, where repeating is pointless."""
        if self.told or not self.pointless():
            return None
        self.told = True
        return (
            f"others use this machine: {self.disturbed} of {self.trials} trials were disturbed, so "
            "they are marked and not run again; end what else runs, then race anew"
        )
