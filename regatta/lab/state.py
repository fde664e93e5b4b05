"""How far a lab has come: one file in its folder, replaced whole after each step."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from regatta.errors import RegattaError, UsageError
from regatta.lab.kept import Kept
from regatta.lab.setting import Setting
from regatta.ledger.plain import checked
from regatta.report.text.whole_file import write_whole

FILE = "state.json"
VERSION = 1


@dataclass(frozen=True)
class Guess:
    design: str
    """That will use the least CPU time."""
    by: float | None = None
    """How many times as much the next one will use."""


@dataclass(frozen=True)
class State:
    setting: Setting
    guess: Guess | None = None
    done: dict[str, Kept] = field(default_factory=dict)
    """By step, in the order in which they were done."""
    written: tuple[str, ...] = ()
    """Of every file of a report that the lab wrote: its SHA-256. Any other is a person's."""
    by_hand: dict[str, bool] = field(default_factory=dict)
    """Of a step with commands: whether a person typed them; else the lab ran them."""
    version: int = VERSION


STATE: TypeAdapter[State] = TypeAdapter(State)


def load_state(folder: Path) -> State | None:
    """None: no lab was begun there."""
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
    raise UsageError(f"{path} is of another version of Regatta ({version}); name another --out")


def save_state(folder: Path, state: State) -> None:
    write_whole(folder / FILE, STATE.dump_json(state, indent=1).decode() + "\n")
