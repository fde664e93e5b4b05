"""What a step is, and the lab that it works in.

A step that a student can do by hand lists its commands; `run` does the same with the same programs.
Both ways leave the same files in the lab's folder, and `result` reads those files.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import ClassVar

from regatta.teach.lab.state import (
    CommandOutput,
    Guess,
    LabSetting,
    LabState,
    StepResult,
    save_state,
)
from regatta.teach.lab.tools import Tools

EARLIER = "earlier"
"""The folder for the old files of a repeated step."""


class Choice(Enum):
    """What the student chose to do about a step."""

    GO = "go on"
    RUN = "run it"
    STOP = "stop"


@dataclass(frozen=True)
class Typed:
    """A line to type, or a key to press, in one of several terminals."""

    terminal: int
    line: str


@dataclass
class Lab:
    """An open lab: its folder, its state, and what its steps use."""

    folder: Path
    state: LabState
    tools: Tools
    race: Callable[[str, Path], Path]
    """Races a study (its text) in this folder; returns the ledger."""
    ask: Callable[[str], str]
    """Asks the student; empty without a terminal."""
    say: Callable[[str], None]
    """Shows a line."""
    guess: Guess | None = None
    """From the command line."""

    @property
    def setting(self) -> LabSetting:
        return self.state.setting

    def path(self, name: str) -> Path:
        """Path of a file or folder of this lab."""
        return self.folder / name

    def printed(self, command: str, name: str) -> CommandOutput:
        """The output of a command, from the file that it was copied to."""
        text = self.path(name).read_text(encoding="utf-8", errors="replace")
        return CommandOutput(command, text.strip("\n"))

    def remember(self, **changes: object) -> None:
        """Changes the state, and saves it at once."""
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]
        save_state(self.folder, self.state)


class Step(ABC):
    """One step of the lab."""

    name: ClassVar[str]
    title: ClassVar[str]
    text: ClassVar[tuple[str, ...]]
    """Paragraphs to read before the step."""
    questions: ClassVar[tuple[str, ...]]
    """To be answered after the step."""
    depends_on: ClassVar[tuple[str, ...]] = ()
    """Steps whose results it uses."""

    def commands(self, lab: Lab) -> Sequence[Typed]:
        """What a student can type instead of `run`; empty: the lab must run it."""
        del lab
        return ()

    @abstractmethod
    def files(self, lab: Lab) -> Sequence[str]:
        """What the step leaves in the lab's folder."""

    @abstractmethod
    def run(self, lab: Lab) -> None:
        """Does the step for the student."""

    @abstractmethod
    def result(self, lab: Lab) -> StepResult:
        """Reads the files."""

    def missing_files(self, lab: Lab) -> list[str]:
        """Files that do not exist yet or are empty."""
        return [name for name in self.files(lab) if not has_content(lab.path(name))]

    def put_aside(self, lab: Lab) -> None:
        """Moves the step's files into a new folder, so that no work is deleted."""
        existing = [name for name in self.files(lab) if lab.path(name).exists()]
        if not existing:
            return
        number = 1
        while (aside := lab.path(EARLIER) / f"{self.name}-{number}").exists():
            number += 1
        aside.mkdir(parents=True)
        for name in existing:
            shutil.move(lab.path(name), aside / Path(name).name)


def has_content(path: Path) -> bool:
    return path.is_dir() or (path.is_file() and path.stat().st_size > 0)
