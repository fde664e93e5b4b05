"""The state of a lab: one file in its folder, replaced atomically after each step."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from regatta.errors import RegattaError, UsageError
from regatta.lab.setting import Setting
from regatta.lab.step_result import StepResult
from regatta.ledger.files import write_whole
from regatta.ledger.validation import checked

FILE = "state.json"
VERSION = 2


@dataclass(frozen=True)
class Guess:
    design: str
    """The one expected to use the least CPU time."""
    by: float | None = None
    """How many times as much the runner-up will use."""


@dataclass(frozen=True)
class State:
    setting: Setting
    guess: Guess | None = None
    done: dict[str, StepResult] = field(default_factory=dict)
    """By step, in the order in which they were done."""
    written: tuple[str, ...] = ()
    """SHA-256 of every report file that the lab wrote; any other was edited by the student."""
    by_hand: dict[str, bool] = field(default_factory=dict)
    """For steps with commands: True if the student typed them, False if the lab ran them."""
    version: int = VERSION


STATE: TypeAdapter[State] = TypeAdapter(State)


def load_state(folder: Path) -> State | None:
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


def save_state(folder: Path, state: State) -> None:
    write_whole(folder / FILE, STATE.dump_json(state, indent=1).decode() + "\n")
