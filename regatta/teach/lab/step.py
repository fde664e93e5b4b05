"""What a step is, and the lab that it works in.

A step that a student can do by hand lists its commands; the lab can run the very same lines. Both
ways leave the same files in the lab's folder, and `result` reads those files.
"""

import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from regatta.teach.lab.state import CommandOutput, LabSetting, LabState, StepResult, save_state
from regatta.teach.lab.tools import HOST, PORT, Tools, pinned

EARLIER = "earlier"
"""The folder for the old files of a repeated step."""
CTRL_C = "Ctrl-C"
HERE = f"{HOST}:{PORT}"
ANSWERED = re.compile(
    r"^rank |: (?:all|[1-9]\d*) answered|: 0 answered, \d+ timeout$", re.MULTILINE
)
"""In the output of a client that found a server."""
TO_FILE = " 2>&1 | tee "


@dataclass(frozen=True)
class Typed:
    """A line to type, or a key to press, in one of several terminals."""

    terminal: int
    line: str
    file: str = ""
    """Of the lab: the line writes it."""
    asks: bool = False
    """Whether it is a client, which also writes its file if it finds no server."""


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
    guess: str | None = None
    """From the command line."""

    @property
    def setting(self) -> LabSetting:
        return self.state.setting

    def path(self, name: str) -> Path:
        return self.folder / name

    def remember(self, **changes: object) -> None:
        """Changes the state, and saves it at once."""
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]
        save_state(self.folder, self.state)

    def text(self, name: str) -> str:
        return self.path(name).read_text(encoding="utf-8", errors="replace").strip("\n")

    def server(self, design: str) -> list[str]:
        """Without its recorder, whose CPU time belongs to no request; reads /proc, as in a race."""
        work = self.setting.work
        words = [self.tools.server, "--design", design, "--work", work, "--no-recorder"]
        return words if work.startswith("classic") else [*words, "--source", "procfs"]

    def pinned_server(self, design: str) -> list[str]:
        """Quiet, as in a race: logging to a terminal would cost four lines for each client."""
        return pinned([*self.server(design), "--quiet"], self.tools.server_cpus)

    def client(self, *options: str) -> list[str]:
        """With the lab's number of connections; the address of the server follows."""
        return [self.tools.client, "-c", str(self.setting.connections), *options]

    def asking(self, line: str | Sequence[str], file: str) -> Typed:
        """A client in terminal 2, whose output is copied to a file."""
        line = line if isinstance(line, str) else shlex.join(line)
        return Typed(2, f"{line}{TO_FILE}{shlex.quote(str(self.path(file)))}", file, asks=True)

    def printed(self, commands: Sequence[Typed]) -> tuple[CommandOutput, ...]:
        """The output of commands, from the files that they wrote."""
        return tuple(
            CommandOutput(typed.line.partition(TO_FILE)[0], self.text(typed.file))
            for typed in commands
            if typed.file
        )


TEXTS = (Path(__file__).parent / "steps.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## ([\w-]+): (.+)\n\n((?:(?!## ).*\n)*)", re.MULTILINE)
SECTIONS = {name: (title, body) for name, title, body in SECTION.findall(TEXTS)}


@dataclass(frozen=True)
class Step:
    name: str
    title: str
    text: tuple[str, ...]
    """Paragraphs to read before the step."""
    questions: tuple[str, ...]
    """To be answered after the step."""
    commands: Callable[[Lab], Sequence[Typed]] = lambda _: ()
    """What a student can type, and the lab run; none: `run` does the step."""
    run: Callable[[Lab], None] = lambda _: None
    made: tuple[str, ...] = ()
    """What `run` leaves in the lab's folder."""
    result: Callable[[Lab], StepResult] | None = None
    """Reads the files; None: shows what the commands printed."""
    depends_on: tuple[str, ...] = ()
    """Steps whose results it uses."""

    @classmethod
    def named(cls, name: str, **does: Any) -> "Step":
        """With the title, the text and the questions of steps.md."""
        title, body = SECTIONS[name]
        *text, questions = body.strip().split("\n\n")
        asked = questions.removeprefix("- ").split("\n- ")
        return cls(name, title, tuple(text), tuple(asked), **does)

    def result_in(self, lab: Lab) -> StepResult:
        if self.result is None:
            return StepResult(printed=lab.printed(self.commands(lab)))
        return self.result(lab)

    def files(self, lab: Lab) -> list[str]:
        return [*self.made, *(typed.file for typed in self.commands(lab) if typed.file)]

    def missing_files(self, lab: Lab) -> list[str]:
        """Files of the commands that do not exist yet, are empty, or hold no answer."""
        found = []
        for typed in self.commands(lab):
            text = lab.text(typed.file) if lab.path(typed.file).is_file() else ""
            if typed.file and not (ANSWERED.search(text) if typed.asks else text):
                found.append(typed.file)
        return found

    def put_aside(self, lab: Lab) -> None:
        """Moves the step's files into a new folder, so that no work is deleted."""
        existing = [name for name in self.files(lab) if lab.path(name).exists()]
        if existing:
            folders = (lab.path(EARLIER) / f"{self.name}-{number}" for number in count(1))
            aside = next(folder for folder in folders if not folder.exists())
            aside.mkdir(parents=True)
            for name in existing:
                shutil.move(lab.path(name), aside / Path(name).name)
