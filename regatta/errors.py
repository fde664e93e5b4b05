"""The errors of the lab, each with an exit status and a message of one line; and what is wrong with
plain data, for example from JSON, in a few words."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")
A_KEY = "[key]"
"""pydantic's mark for an invalid key (rather than its value)."""


class RegattaError(Exception):
    """A failure whose message says what is wrong and what to do."""

    exit_status = 1


class UsageError(RegattaError):
    """An option, an argument or a study is wrong; nothing was started."""

    exit_status = 2


class StudyError(UsageError):
    """A study file is not valid."""

    MOST_SHOWN = 10

    def __init__(self, *mistakes: str) -> None:
        super().__init__(*mistakes)
        self.mistakes = mistakes

    def __str__(self) -> str:
        if len(self.mistakes) == 1:
            return self.mistakes[0]
        shown = self.mistakes[: self.MOST_SHOWN]
        listed = "; ".join(f"({number}) {one}" for number, one in enumerate(shown, start=1))
        more = len(self.mistakes) - len(shown)
        return f"{len(self.mistakes)} mistakes: {listed}" + (f"; and {more} more" if more else "")


class PlacementError(RegattaError):
    """The two sides cannot be placed as requested."""


class CpuError(UsageError):
    """The CPUs given or found are not enough for both sides."""


class CounterError(RegattaError):
    """The output of perf cannot be parsed."""


class LedgerError(RegattaError):
    """A ledger cannot be read, or belongs to another race."""


class HopelessRaceError(RegattaError):
    """A race in which nothing could be measured was ended; its ledger has the reasons."""


class CalibrationError(RegattaError):
    """A stored calibration cannot be read or written."""


class GoalsMissedError(RegattaError):
    """A calibration missed some of its goals."""


class TrialError(RegattaError):
    """One trial failed; the ledger records it with this reason."""


class HostLostError(TrialError):
    """A host was lost during a trial."""


class InterruptedRaceError(RegattaError):
    """The user stopped the race; finished trials are in the ledger."""

    exit_status = 130


def checked(adapter: TypeAdapter[T], plain: object) -> T:
    """The validated value; ValueError, in a few words, for anything else."""
    try:
        return adapter.validate_python(plain)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"`{named(first['loc'])}`: {first['msg'].lower()}") from error


def named(loc: Sequence[str | int]) -> str:
    """`cells[1].rate`."""
    text = ""
    for part in loc:
        if part == A_KEY:
            continue
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += f"{'.' if text else ''}{part if part.isprintable() else ascii(part)[1:-1]}"
    return text
