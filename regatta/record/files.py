"""Creates, opens and finds ledger files; replaces files atomically; the folder of a race: its name,
lock and free space."""

import fcntl
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from regatta import __version__
from regatta.errors import LedgerError, RegattaError, UsageError
from regatta.record.cell import Cell, matched_cells
from regatta.record.inputs import RaceInputs, write_inputs
from regatta.record.read import in_one_line, read_meta
from regatta.record.records import PlannedTrial
from regatta.record.schema import FILE_NAME, SCHEMA, SCHEMA_VERSION, TABLES, check_version, is_cut
from regatta.record.write import Ledger, insert, write_cells, write_plan

RACES = Path("races")
ROOM_BYTES = 1 << 20
"""More than a trial writes."""


def new_folder(name: str) -> Path:
    """races/NAME-TIME, with a number if that exists."""
    stem = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(folder for name in names if not (folder := RACES / name).exists())


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


@dataclass(frozen=True)
class Start:
    """What the ledger of a new race begins with."""

    about: dict[str, str]
    """Rows of `meta`: the study and the race's settings."""
    inputs: RaceInputs
    cells: Sequence[Cell]
    plan: Sequence[PlannedTrial]
    placement: str


def create(folder: Path, start: Start) -> Ledger:
    """Creates the ledger of a new race with its whole plan.

    It is renamed to its final name when complete, so that every existing ledger can be resumed.
    """
    path = folder / FILE_NAME
    unfinished = folder / f".{FILE_NAME}.new"
    if path.exists():
        raise LedgerError(f"{path} exists; resume it with --resume, or name another --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        with closing(sqlite3.connect(unfinished)) as database:
            write_start(database, start)
        unfinished.rename(path)
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            f"cannot write {path}: {error}; name another folder with --out"
        ) from error
    return open_ledger(path)


def write_start(database: sqlite3.Connection, start: Start) -> None:
    meta = {
        "schema_version": str(SCHEMA_VERSION),
        "regatta_version": __version__,
        "created_at": f"{time.time():.3f}",
        **start.about,
    }
    # One transaction, because every commit waits for the disk.
    database.executescript(f"BEGIN;{SCHEMA};COMMIT;")
    with database:
        for key, value in meta.items():
            insert(database, "meta", {"key": key, "value": value})
        write_inputs(database, start.inputs)
        searched = matched_cells(start.cells)
        write_cells(database, "search", searched, start.placement)
        if not searched:
            write_plan(database, start.cells, start.plan, start.placement)


def open_ledger(path: Path) -> Ledger:
    """Opens a ledger to continue its race, after an integrity check."""
    if not path.is_file():
        raise LedgerError(f"there is no ledger {path}; name the folder of a race")
    broken = f"{path} is not a ledger, or is damaged"
    advice = "restore it from a copy, or start a new race"
    if is_cut(path):
        raise LedgerError(f"{broken} (its end is missing); {advice}")
    try:
        database = sqlite3.connect(path)
    except sqlite3.Error as error:
        raise LedgerError(f"cannot open {path}: {error}") from error
    try:
        row = database.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
        version = int(row[0]) if row else 0
        if version > 0:
            check_version(path, version)
        checked = database.execute("PRAGMA quick_check(1)").fetchone()
        if version < 1 or checked is None or checked[0] != "ok":
            raise LedgerError(f"{broken}; {advice}")
        for table in TABLES:
            database.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
        # Trials must survive a crash of the process, not of the host: no sync per commit needed.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
    except LedgerError:
        database.close()
        raise
    except (sqlite3.Error, ValueError) as error:
        database.close()
        raise LedgerError(f"{broken} ({in_one_line(error)}); {advice}") from error
    return Ledger(path, database)


def find_unfinished(races: Path, study_name: str) -> Path:
    """The folder of the newest unfinished race of that study."""
    found: list[tuple[float, Path]] = []
    for path in races.glob(f"*/{FILE_NAME}"):
        with suppress(LedgerError):
            meta = read_meta(path)
            if meta.get("study_name") == study_name and "finished_at" not in meta:
                found.append((float(meta["created_at"]), path.parent))
    if not found:
        raise LedgerError(
            f"{races} holds no unfinished race of the study {study_name}; start one without "
            "--resume, or name the race's folder"
        )
    return max(found)[1]


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes beside the file and renames: readers see the old content or the new, never a part."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise RegattaError(
            f"cannot write {path}: {error.strerror or error}; free some space or make the folder "
            "writable"
        ) from error
