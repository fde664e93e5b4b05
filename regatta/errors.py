"""The errors of the lab. Each has an exit status and a message of one line."""


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
