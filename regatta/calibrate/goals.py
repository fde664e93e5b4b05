"""What a calibration is made of: parts that measure, and what they may use."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from regatta.ledger.given.calibration import Goal
from regatta.machine.programs import Programs
from regatta.race.options import Options
from regatta.study import Study


def within(percent: float, name: str, of: str, deviation: float, detail: str) -> Goal:
    """A goal: off by no more than so many per cent."""
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
    """What a part may use while it runs."""

    programs: Programs
    folder: Path
    """This calibration's. A part keeps its files below `folder_for(NAME)`; they may exist already:
    a stopped calibration continues."""
    options: Options
    """Placement, CPUs and seed as given by the user, for races and loads."""
    quick: bool
    """A smoke test: the least that runs every step."""
    inject: str | None
    """The error injected into the analysis on purpose."""
    say: Callable[[str], None]
    """Shows one line of progress."""
    race: Callable[[Study, Path], Path]
    """Runs a study in that folder, or continues it, and returns the path of its ledger."""
    shape: str = "quick"
    """The study whose shape is raced: one that ships with the project, or a file."""
    races: int | None = None
    """How many fresh races the user wants, for each part that needs some."""

    def folder_for(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def races_of(self, usual: int) -> int:
        return usual if self.races is None else self.races


@dataclass(frozen=True)
class CalibrationPart:
    """Some goals that are measured together."""

    name: str
    """A word for `--only` and for the part's files."""
    says: str
    """What it does, in a few words, for the progress."""
    run: Callable[[Context], list[Goal]]
    takes_s: float
    """About how long a whole one takes on a quiet machine with two fast CPUs."""
    races: int = 0
    """How many fresh races that is, of a shape and in a number that a person may choose."""
    injected: tuple[str, ...] = ()
    """The errors that can be injected into it."""
    reads_races: bool = False
    """Judged anew from its kept races each time; else its goals are kept."""

    def expected_s(self, races: int | None) -> float:
        """The same for so many races."""
        return (
            self.takes_s * races / self.races if races is not None and self.races else self.takes_s
        )
