"""What became of the faults that were tried."""

from dataclasses import dataclass, field

from tests.reliability.injection import Fault


@dataclass(frozen=True)
class Outcome:
    fault: Fault
    injections: int
    problem: str | None
    """Why it falls short; None: it survived."""


@dataclass
class Tally:
    tried: int = 0
    never_came: int = 0
    """Nobody made the call so often."""
    short: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        if outcome.injections or outcome.problem is not None:
            self.tried += 1
        else:
            self.never_came += 1
        if outcome.problem is not None:
            self.short.append(f"{outcome.fault}: {outcome.problem}")

    def __str__(self) -> str:
        survived = self.tried - len(self.short)
        return f"{self.tried:5} tried {survived:5} survived, {self.never_came:4} never came"
