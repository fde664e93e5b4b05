"""The folder of a race: its name, lock and free space."""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regatta.errors import LedgerError, RegattaError, UsageError

RACES = Path("races")
ROOM_BYTES = 1 << 20
"""More than a trial writes."""


def new_folder(name: str) -> Path:
    """races/NAME-TIME, with a number if that exists."""
    stem = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder = RACES / stem
    number = 2
    while folder.exists():
        folder = RACES / f"{stem}-{number}"
        number += 1
    return folder


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Locks the folder against a second race; the kernel unlocks it when the lab ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise RegattaError(
            f"cannot use the folder {folder}: {error.strerror}; choose another with --out"
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise UsageError(
            f"another race is running in {folder}; wait until it ends, or choose another folder"
        ) from error
    finally:
        os.close(handle)


def need_room(folder: Path) -> None:
    """Ends the race if its disk is full: a trial that failed for that reason must be run again, not
    count against its contender."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM_BYTES))
    except OSError as error:
        raise LedgerError(
            f"cannot write to {folder}: {error.strerror}; free some space, then continue with "
            "--resume"
        ) from error
