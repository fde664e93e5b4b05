"""Calibration: goals judged from finished races of this machine, without new races.

Every claim of the shipped studies gets a verdict, and two races an hour apart agree. If their
ledgers are missing in `races/`, a goal is not measured and says which study to race.
"""

import json
import sqlite3
from pathlib import Path

from regatta.analysis.agreement import agree
from regatta.analysis.analyse import analyse
from regatta.analysis.claims.result import NOT_MEASURABLE, TOO_FEW
from regatta.calibrate.goals import CalibrationPart, Context
from regatta.calibrate.store import machine
from regatta.errors import LedgerError
from regatta.ledger.counters import COUNTED
from regatta.ledger.inputs.calibration import Goal
from regatta.ledger.read import connect, read
from regatta.ledger.records import RaceRecord
from regatta.ledger.schema import FILE_NAME
from regatta.race.folder import RACES

CLAIMED = ("reports", "chapter-30")
TWICE = "quick"
APART_S = 3600.0
OVERLAP_PERCENT = 95.0
SAME_MACHINE = ("cpu_model", "cpus", "kernel")
HARDWARE = "cycles"
"""A machine that counts cycles also counts the other hardware events."""


def finished(study: str) -> list[tuple[float, Path]]:
    """Time and ledger of the finished races of a study on this machine, the newest first."""
    here = machine()
    found: list[tuple[float, Path]] = []
    for path in RACES.glob(f"*/{FILE_NAME}"):
        try:
            meta, where = read_facts(path)
        except (LedgerError, sqlite3.Error):
            continue  # another version, or damaged
        ours = all(where.get(name) == json.dumps(here[name]) for name in SAME_MACHINE)
        if meta.get("study_name") == study and "finished_at" in meta and ours:
            found.append((float(meta["created_at"]), path))
    return sorted(found, reverse=True)


def read_facts(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The facts of a ledger about its race and, as JSON, about its machine."""
    with connect(path) as database:
        meta, environment = (
            dict(database.execute(f"SELECT key, value FROM {table}").fetchall())
            for table in ("meta", "environment")
        )
    return meta, environment


def claims(_: Context) -> list[Goal]:
    """Every claim gets a verdict, unless this machine lacks the counter."""
    name = "claims that get a verdict"
    goal = "all whose counters this machine has"
    raced = [finished(study) for study in CLAIMED]
    if not all(raced):
        return [Goal(name, goal, f"not measured: race {' and '.join(CLAIMED)} first", met=None)]
    ledgers = [read(newest) for (_, newest), *_ in raced]
    results = [claim for ledger in ledgers for claim in analyse(ledger).claims]
    hardware = any(counts_hardware(ledger) for ledger in ledgers)
    lacking = [result.id for result in results if result.verdict == NOT_MEASURABLE]
    short = [result.id for result in results if result.verdict == TOO_FEW]
    given = len(results) - len(lacking) - len(short)
    words = f"{given} of {len(results)}"
    if lacking:
        words += f"; {', '.join(lacking)} need counters that this machine lacks"
    if short:
        words += f"; {', '.join(short)} have too few blocks"
    met = not short and not (hardware and lacking)
    return [Goal(name, goal, words, met=met, value=float(given))]


def counts_hardware(ledger: RaceRecord) -> bool:
    return any(
        event == HARDWARE and counter.state == COUNTED
        for trial in ledger.trials
        for (_, _, event), counter in trial.counters.items()
    )


def twice(_: Context) -> list[Goal]:
    """Two races without a change between them agree."""
    name = f"two races of {TWICE} an hour apart"
    goal = f"the same winner; intervals overlap in at least {OVERLAP_PERCENT:g} % of cells"
    pair = an_hour_apart(finished(TWICE))
    if pair is None:
        return [
            Goal(name, goal, f"not measured: race {TWICE} twice, an hour apart, first", met=None)
        ]
    found = agree(*(analyse(read(path)) for path in pair))
    share = found.cells.share
    if share is None:
        return [Goal(name, goal, "the races have no cell in common", met=None)]
    ahead = "winner" if found.has_winner else "set of the best"
    winner = f"the same {ahead}" if found.same_winner else f"another {ahead}"
    words = f"{winner}; {found.cells.overlap} of {found.cells.of} cells overlap"
    met = found.same_winner and 100 * share >= OVERLAP_PERCENT
    detail = (
        f"{' and '.join(str(path.parent.name) for path in pair)}; of all columns "
        f"{found.figures.overlap} of {found.figures.of} intervals overlap"
    )
    return [Goal(name, goal, words, met=met, detail=detail, value=100 * share)]


def an_hour_apart(races: list[tuple[float, Path]]) -> tuple[Path, Path] | None:
    """The newest race, and the newest of those at least an hour older."""
    if not races:
        return None
    newest_at, newest = races[0]
    older = (path for at, path in races if newest_at - at >= APART_S)
    return next(((path, newest) for path in older), None)


PARTS = (
    CalibrationPart(
        "claims", "the claims of the shipped studies", claims, takes_s=10, reads_races=True
    ),
    CalibrationPart("twice", "two races of quick", twice, takes_s=5, reads_races=True),
)
