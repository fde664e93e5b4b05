"""What a calibration is made of, as plain data: parts that measure, and the goals they judge by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a race reads what is stored here, and so may not be imported by it
    from regatta.machine.programs import Programs
    from regatta.race.race import Options
    from regatta.study import Study


MET, NOT_REFUTED, MISSED, NOT_MEASURED = "met", "not refuted", "missed", "not measured"
"""What a goal can come to. Only what is missed is a failure, and only what is met is proven."""


@dataclass(frozen=True)
class Goal:
    """One thing that must hold, and whether it does."""

    name: str
    """What is judged, the same in every calibration: `p99 of a stopped server`."""
    goal: str
    """In words: `within 5 % of the truth`."""
    measured: str
    """In words, with its unit: `2.1 % above`. What could not be measured says why here."""
    met: bool | None
    """None: neither is shown, which is no failure of the instrument. It could not be measured here,
    or too little was: then it has a `value`."""
    detail: str = ""
    """One sentence more, for whoever wants to know how: sizes, sources, what it rests on."""
    value: float | None = None
    """`measured` as a number, in the goal's unit."""

    @property
    def outcome(self) -> str:
        if self.met is None:
            return NOT_MEASURED if self.value is None else NOT_REFUTED
        return MET if self.met else MISSED


def within(percent: float, name: str, of: str, off: float, detail: str) -> Goal:
    """The goal that something is off by no more than so many per cent."""
    return Goal(
        name=name,
        goal=f"within {percent:g} % of {of}",
        measured=f"{off:+.2f} %",
        met=abs(off) <= percent,
        detail=detail,
        value=off,
    )


@dataclass(frozen=True)
class Context:
    """What a part may use while it runs."""

    programs: Programs
    folder: Path
    """Of this calibration. A part keeps its files below `place(NAME)`; they may be there already:
    a calibration that was stopped goes on."""
    options: Options
    """Placement, CPUs and seed as a person asked for them, for races and for loads."""
    quick: bool
    """A smoke check: as little as still runs every step."""
    inject: str | None
    """The error that is put into the analysis on purpose."""
    say: Callable[[str], None]
    """Shows one line of progress."""
    race: Callable[[Study, Path], Path]
    """Runs a study in that folder, or goes on with it, and returns the path of its ledger."""
    shape: str = "quick"
    """The study whose shape is raced: one that ships with the project, or a file."""
    races: int | None = None
    """How many fresh races a person asked for, of each part that needs some."""

    def place(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def races_of(self, usual: int) -> int:
        return usual if self.races is None else self.races


@dataclass(frozen=True)
class Part:
    """Some goals that are measured together."""

    name: str
    """A word for `--only` and for the part's files."""
    says: str
    """What it does, in a few words, for the progress."""
    run: Callable[[Context], list[Goal]]
    takes_s: float
    """About how long a whole one takes on a quiet machine."""
    races: int = 0
    """How many fresh races that is, of a shape and in a number that a person may choose."""
    injected: tuple[str, ...] = ()
    """The errors that may be put into it."""
    reads_races: bool = False
    """It is judged anew from the races that are kept, each time; else its goals are kept."""

    def expected_s(self, races: int | None) -> float:
        """The same for so many races."""
        return (
            self.takes_s * races / self.races if races is not None and self.races else self.takes_s
        )


@dataclass(frozen=True)
class Calibration:
    """The goals of all parts, and where and when they were measured."""

    taken_at: float
    """Seconds since 1970."""
    elapsed_s: float
    regatta_version: str
    machine: dict[str, Any]
    goals: tuple[Goal, ...]
    quick: bool = False
    inject: str | None = None

    @property
    def missed(self) -> list[Goal]:
        return self.that_are(MISSED)

    def that_are(self, outcome: str) -> list[Goal]:
        return [goal for goal in self.goals if goal.outcome == outcome]

    @property
    def outcome(self) -> str:
        """Of all together: the worst of what was measured."""
        worst_first = (MISSED, NOT_REFUTED, MET)
        return next((word for word in worst_first if self.that_are(word)), NOT_MEASURED)
