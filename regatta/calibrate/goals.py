"""The parts of a calibration, and the context in which they run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from regatta.ledger.inputs.calibration import Goal
from regatta.machine.programs import Programs
from regatta.race.options import Options
from regatta.study import Study

QUICK_RACES = 2


def within(percent: float, name: str, of: str, deviation: float, detail: str) -> Goal:
    """The goal that a deviation is within `percent`."""
    return Goal(
        name=name,
        goal=f"within {percent:g} % of {of}",
        measured=f"{deviation:+.2f} %",
        met=abs(deviation) <= percent,
        detail=detail,
        value=deviation,
    )


@dataclass(frozen=True)
class Context:
    """What a part can use while it runs."""

    programs: Programs
    folder: Path
    """The folder of the calibration. A part keeps its files below `folder_for(NAME)`, where they
    may already exist if a stopped calibration continues."""
    options: Options
    """Placement, CPUs and seed for races and loads."""
    quick: bool
    """A smoke test: the least data that runs every step."""
    inject: str | None
    """The injected error."""
    say: Callable[[str], None]
    """Shows one line of progress."""
    race: Callable[[Study, Path], Path]
    """Runs or continues a study in a folder and returns the path of its ledger."""
    shape: str = "quick"
    """The study whose shape is raced: the name of a shipped one, or a file."""
    races: int | None = None
    """The number of fresh races that the user wants, for each part that needs some."""

    def folder_for(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def races_of(self, usual: int) -> int:
        if self.races is not None:
            return self.races
        return QUICK_RACES if self.quick else usual


@dataclass(frozen=True)
class CalibrationPart:
    """A group of goals that are measured together."""

    name: str
    """A word for `--only` and for the part's files."""
    says: str
    """A short description for the progress."""
    run: Callable[[Context], list[Goal]]
    takes_s: float
    """About how long it takes on a quiet machine with two fast CPUs."""
    races: int = 0
    """Its default number of fresh races, if the user can choose it."""
    injected: tuple[str, ...] = ()
    """The errors that can be injected into it."""
    reads_races: bool = False
    """Whether its goals are judged again from its ledgers each time, rather than stored."""

    def expected_s(self, races: int | None) -> float:
        """About how long it takes with this number of races."""
        return (
            self.takes_s * races / self.races if races is not None and self.races else self.takes_s
        )
