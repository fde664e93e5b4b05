"""Stores the newest calibration of this machine as JSON below XDG_STATE_HOME.

The file is named by a hash of the machine's facts, as machines may share a home folder. Its content
is validated when it is read.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from regatta.errors import CalibrationError
from regatta.measure import environment
from regatta.record.files import write_whole
from regatta.record.inputs import Calibration, from_plain, to_plain

MOST_BYTES = 1 << 20
MACHINE = ("cpu_model", "cpus", "architecture", "virtualisation", "kernel", "clock_source")
"""A calibration is not valid for another kernel or clock."""


def machine() -> dict[str, Any]:
    """The machine that a calibration is valid for."""
    known = environment.facts()
    found = {name: known[name]() for name in MACHINE}
    return found | {"memory_gib": round(environment.memory_bytes() / 2**30)}


def path_for(facts: dict[str, Any]) -> Path:
    """The file of the machine with these facts."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification requires that a relative path is ignored.
    folder = Path(state) if Path(state).is_absolute() else Path.home() / ".local/state"
    text = json.dumps(facts, sort_keys=True)
    return folder / "regatta" / f"calibration-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def save(calibration: Calibration) -> Path:
    path = path_for(calibration.machine)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CalibrationError(f"cannot write {path}: {error.strerror}") from error
    write_whole(path, json.dumps(to_plain(calibration), ensure_ascii=False, indent=2) + "\n")
    return path


def load() -> Calibration | None:
    """The calibration of this machine, or None. CalibrationError if the file is damaged."""
    path = path_for(machine())
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise ValueError("it is too large")
        return from_plain(json.loads(raw))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        reason = f"is not a calibration: {error}"
        if isinstance(error, OSError):
            reason = f"cannot be read: {error.strerror}"
        elif isinstance(error, json.JSONDecodeError):
            # Line and column of the error do not help with a generated file.
            reason = "is not a calibration: it is not JSON"
        raise CalibrationError(f"{path} {reason}; remove it and run `regatta calibrate`") from error


def for_ledger() -> Calibration | str | None:
    """The calibration for a race, or why its file cannot be read; a race needs none."""
    try:
        return load()
    except CalibrationError as error:
        return str(error)
