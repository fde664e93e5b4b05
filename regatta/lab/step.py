"""What a step is, and what it has at hand.

A step that a person can type says its commands; `run` does what they do, with the same programs.
Both leave the same files in the lab's folder, and `keep` reads them, whoever made them.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from regatta.lab.kept import Kept, Printed
from regatta.lab.setting import Setting
from regatta.lab.state import Guess, State, save_state
from regatta.lab.tools import Tools

EARLIER = "earlier"
"""The folder for what a step left that is done again."""


@dataclass(frozen=True)
class Typed:
    """A line to type in one of several terminals, or a key to press there."""

    terminal: int
    line: str


@dataclass
class Desk:
    """What is at hand in a lab."""

    folder: Path
    state: State
    tools: Tools
    race: Callable[[str, Path], Path]
    """Races a study, given as its text, in this folder, once; returns its ledger."""
    ask: Callable[[str], str]
    """Asks the person at the terminal; empty where there is nobody."""
    say: Callable[[str], None]
    """A line for whoever reads along."""
    guess: Guess | None = None
    """That was given with the command line."""

    @property
    def setting(self) -> Setting:
        return self.state.setting

    def path(self, name: str) -> Path:
        """Of a file or folder of this lab."""
        return self.folder / name

    def printed(self, command: str, name: str) -> Printed:
        """What a file of the lab holds of a command's output."""
        text = self.path(name).read_text(encoding="utf-8", errors="replace")
        return Printed(command, text.strip("\n"))

    def remember(self, **changes: object) -> None:
        """In the state on the disk, at once."""
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]
        save_state(self.folder, self.state)


class Step(ABC):
    """One of the steps of the hour."""

    name: ClassVar[str]
    title: ClassVar[str]
    text: ClassVar[tuple[str, ...]]
    """Paragraphs to read before it."""
    questions: ClassVar[tuple[str, ...]]
    """To be answered after it."""
    rests_on: ClassVar[tuple[str, ...]] = ()
    """Steps whose results it takes."""

    def commands(self, desk: Desk) -> Sequence[Typed]:
        """What a person can type in place of `run`; none: the lab does it."""
        del desk
        return ()

    @abstractmethod
    def files(self, desk: Desk) -> Sequence[str]:
        """What it leaves in the lab's folder."""

    @abstractmethod
    def run(self, desk: Desk) -> None:
        """Does the step."""

    @abstractmethod
    def keep(self, desk: Desk) -> Kept:
        """What its files come to."""

    def lacking(self, desk: Desk) -> list[str]:
        """The files that are not there yet."""
        return [name for name in self.files(desk) if not has_content(desk.path(name))]

    def put_aside(self, desk: Desk) -> None:
        """Moves what it left into a folder of its own: nothing of a person's is deleted."""
        there = [name for name in self.files(desk) if desk.path(name).exists()]
        if not there:
            return
        number = 1
        while (aside := desk.path(EARLIER) / f"{self.name}-{number}").exists():
            number += 1
        aside.mkdir(parents=True)
        for name in there:
            shutil.move(desk.path(name), aside / Path(name).name)


def has_content(path: Path) -> bool:
    return path.is_dir() or (path.is_file() and path.stat().st_size > 0)
