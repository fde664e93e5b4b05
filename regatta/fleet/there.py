"""What one host of a fleet does: the whole race, by the lab that lies there.

Its folder stays until the fleet has what it wants of it: a host that was lost goes on where it was.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regatta.errors import RegattaError
from regatta.ledger.schema import FILE_NAME

STUDY, RACE = "study.toml", "race"
KEPT = (FILE_NAME, "report.html")
FINISHED = (0, 1)
"""Exit statuses of a race that has results; 1: some of its trials failed."""
QUOTED = 300


@dataclass(frozen=True)
class Order:
    """What every host of a fleet is asked for."""

    name: str
    """Of the fleet, and of its folder there."""
    study: str
    """Its text."""
    options: tuple[str, ...] = ()
    """Of `regatta race`."""


@dataclass(frozen=True)
class Raced:
    """What a host sends back."""

    result: str
    """As `regatta race --json` prints it."""
    files: dict[str, bytes]
    """Compressed."""


def home(fleet: str) -> Path:
    """Of all machines that share their homes; each has a folder of its own in it."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "regatta" / "fleet" / fleet


def race_there(order: Order, machine: str) -> Raced:
    """All of the race, or what is left of it."""
    folder = home(order.name) / machine
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STUDY).write_text(order.study)
    begun = (folder / RACE / FILE_NAME).exists()
    words = ("--resume", RACE) if begun else (STUDY, "--out", RACE, *order.options)
    done = subprocess.run(
        [sys.executable, "-m", "regatta", "race", *words, "--json", "--quiet"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode not in FINISHED or not done.stdout.strip():
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RegattaError(last.removeprefix("regatta: ")[:QUOTED])
    files = {name: zlib.compress((folder / RACE / name).read_bytes()) for name in KEPT}
    return Raced(done.stdout, files)


def forget(fleet: str, machine: str) -> None:
    """What the fleet has by now."""
    shutil.rmtree(home(fleet) / machine, ignore_errors=True)
    with suppress(OSError):  # others are there
        home(fleet).rmdir()
