"""What a machine of a fleet does: the whole race, with the Regatta that is installed on it.

The folder of the race stays until its files are collected, so that a machine that was lost can
resume.
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
from regatta.measure.guard import guard_environment, guarded
from regatta.record.schema import FILE_NAME

STUDY, RACE = "study.toml", "race"
FILES = (FILE_NAME, "report.html")
FINISHED = (0, 1)
"""Exit statuses of a race with results; 1 if some trials failed."""
QUOTED = 300
CHUNK_BYTES = 4 << 20
DASK_SETS = (
    "MALLOC_TRIM_THRESHOLD_",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
)
"""What Dask sets in the environment of a cluster's worker; it would change the raced servers."""


@dataclass(frozen=True)
class RaceOrder:
    """What every machine of a fleet is asked to race."""

    name: str
    """The name of the fleet, and of its folder on the machine."""
    study: str
    """The text of the study."""
    options: tuple[str, ...] = ()
    """Options of `regatta race`."""


@dataclass(frozen=True)
class RaceOutput:
    """The output of a race. Its files are read in chunks afterwards."""

    result: str
    """What `regatta race --json` printed."""
    sizes: dict[str, int]
    """Sizes of the files in bytes."""


def fleet_folder(fleet: str) -> Path:
    """The folder of a fleet; machines may share it if they share a home."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "regatta" / "fleet" / fleet


def race_environment() -> dict[str, str]:
    """The environment of the race, without Dask's settings."""
    return {name: text for name, text in guard_environment().items() if name not in DASK_SETS}


def race_on_this_host(order: RaceOrder, machine: str) -> RaceOutput:
    """Runs the race, or resumes it. The race ends with this worker: its successor may resume it."""
    folder = fleet_folder(order.name) / machine
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STUDY).write_text(order.study)
    begun = (folder / RACE / FILE_NAME).exists()
    words = ("--resume", RACE) if begun else (STUDY, "--out", RACE, *order.options)
    done = subprocess.run(
        guarded([sys.executable, "-m", "regatta", "race", *words, "--json", "--quiet"]),
        cwd=folder,
        env=race_environment(),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode not in FINISHED or not done.stdout.strip():
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RegattaError(last.removeprefix("regatta: ")[:QUOTED])
    return RaceOutput(done.stdout, {name: (folder / RACE / name).stat().st_size for name in FILES})


def read_chunk(fleet: str, machine: str, name: str, offset: int) -> bytes:
    """A compressed part of a file, small enough for a slow connection."""
    with (fleet_folder(fleet) / machine / RACE / name).open("rb") as file:
        file.seek(offset)
        return zlib.compress(file.read(CHUNK_BYTES))


def remove_race(fleet: str, machine: str) -> None:
    """Removes the folder of the race, once the fleet has its files."""
    shutil.rmtree(fleet_folder(fleet) / machine, ignore_errors=True)
    with suppress(OSError):  # not empty: other machines use it
        fleet_folder(fleet).rmdir()
