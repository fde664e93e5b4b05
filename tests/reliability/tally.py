"""Results of the faults."""

from dataclasses import dataclass, field

from tests.reliability.injection import Fault


@dataclass(frozen=True)
class Outcome:
    fault: Fault
    injections: int
    problem: str | None
    """None: it survived."""


@dataclass
class Tally:
    kinds: int = 0
    """Pairs of call and error; the environment chooses a sample (cases.py)."""
    kinds_tried: set[tuple[str, str]] = field(default_factory=set)
    tried: int = 0
    not_reached: int = 0
    """The call was not made often enough."""
    failures: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        if outcome.injections or outcome.problem is not None:
            self.tried += 1
            self.kinds_tried.add((outcome.fault.call, outcome.fault.error))
        else:
            self.not_reached += 1
        if outcome.problem is not None:
            self.failures.append(f"{outcome.fault}: {outcome.problem}")

    def check(self) -> None:
        """Faults were injected, unless the environment chose none, and all were survived."""
        assert self.kinds > 0
        assert self.tried > 0 or self.not_reached == 0
        assert self.failures == []

    def __str__(self) -> str:
        survived = self.tried - len(self.failures)
        return (
            f"{self.tried:5} tried {survived:5} survived, {self.not_reached:4} not reached,"
            f" {len(self.kinds_tried):4} of {self.kinds:4} kinds"
        )
