"""The settings and the state of a lab: one file in its folder, replaced atomically after each
step.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from regatta.errors import RegattaError, UsageError, checked
from regatta.measure.programs import called_with
from regatta.record.files import write_whole
from regatta.show.view import Chart, Table

FOLDER = Path("lab")
"""The lab's folder without --out."""
FILE = "state.json"
VERSION = 4


def lab_command(folder: Path, *options: str) -> str:
    """The command that continues the lab in this folder."""
    out = [] if folder == FOLDER else ["--out", str(folder)]
    return called_with("lab", *options, *out)


@dataclass(frozen=True)
class LabSetting:
    designs: tuple[str, ...] = ("iterative", "thread-per-client", "select", "epoll")
    connections: int = 10
    work: str = "classic"
    quick: bool = False
    """Few short blocks: shows the steps, not reliable results."""

    @property
    def words(self) -> str:
        quick = ", quick" if self.quick else ""
        designs = ", ".join(self.designs)
        return f"{designs}; {self.connections} connections; work {self.work}{quick}"


@dataclass(frozen=True)
class CommandOutput:
    command: str
    output: str


@dataclass(frozen=True)
class StepResult:
    said: tuple[str, ...] = ()
    """Sentences below the tables and pictures."""
    printed: tuple[CommandOutput, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True)
class LabState:
    setting: LabSetting
    guess: str | None = None
    """The design that is expected to use the least CPU time."""
    done: dict[str, StepResult] = field(default_factory=dict)
    """By step, in the order in which they were done."""
    version: int = VERSION


STATE: TypeAdapter[LabState] = TypeAdapter(LabState)


def load_state(folder: Path) -> LabState | None:
    """None: there is no lab in this folder."""
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise RegattaError(f"cannot read {path}: {error}; name another --out") from error
    try:
        plain = json.loads(text)
        version = plain.get("version") if isinstance(plain, dict) else None
        if version == VERSION:
            return checked(STATE, plain)
    except ValueError as error:
        raise RegattaError(f"{path} is damaged ({error}); name another --out") from error
    raise UsageError(
        f"{path} was written by another version of Regatta (version {version}, not {VERSION}); "
        "name another --out"
    )


def save_state(folder: Path, state: LabState) -> None:
    write_whole(folder / FILE, STATE.dump_json(state, indent=1).decode() + "\n")
