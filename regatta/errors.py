"""What can go wrong, each with its exit status and the one line that a person reads."""


class RegattaError(Exception):
    """A failure that is explained in one line: what is wrong, and what to do."""

    exit_status = 1


class UsageError(RegattaError):
    """An option, an argument or a study is wrong; nothing was started."""

    exit_status = 2


class StudyError(UsageError):
    """A study file does not say what a study can say."""


class PlacementError(RegattaError):
    """The two sides cannot be put where they were asked to be."""


class CpuError(UsageError):
    """The CPUs that were named, or found, cannot hold both sides."""


class CounterError(RegattaError):
    """perf answered something that cannot be understood."""


class LedgerError(RegattaError):
    """The ledger cannot be read, or is not the ledger of this race."""


class CalibrationError(RegattaError):
    """A stored calibration cannot be read or written."""


class GoalsMissedError(RegattaError):
    """The instrument was measured, and is not as good as it has to be."""


class TrialError(RegattaError):
    """One trial failed; the ledger keeps it with this reason."""


class HostLostError(TrialError):
    """A host went away in mid-trial."""


class InterruptedRaceError(RegattaError):
    """A person stopped the race; what was finished is in the ledger."""

    exit_status = 130
