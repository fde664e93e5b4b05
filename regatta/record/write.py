"""An open ledger of a race. Only this file writes trials to it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from regatta.errors import LedgerError
from regatta.record.cell import AS_RACED, Cell
from regatta.record.read import read_probes
from regatta.record.records import BESIDE_ROW, TIMED, PlannedTrial, Probe, Sitting, Trial
from regatta.record.schema import FAILURES, SUPERSEDED, row_of, to_json


def insert(database: sqlite3.Connection, table: str, row: Mapping[str, object]) -> int:
    """Returns the row's id."""
    marks = ", ".join("?" * len(row))
    words = f"INSERT INTO {table}({', '.join(row)}) VALUES ({marks})"
    return database.execute(words, tuple(row.values())).lastrowid or 0


def write_cells(
    database: sqlite3.Connection, table: str, cells: Sequence[Cell], place: str
) -> None:
    for number, cell in enumerate(cells, start=1):
        insert(database, table, {"id": number, **row_of(cell, *AS_RACED), "placement": place})


def write_plan(
    database: sqlite3.Connection, cells: Sequence[Cell], plan: Sequence[PlannedTrial], place: str
) -> None:
    write_cells(database, "cell", cells, place)
    for planned in plan:
        insert(database, "plan", row_of(planned))


class Ledger:
    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path = path
        self.database = database

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Turns a finished ledger into a single file without a WAL, if no reader has it open."""
        with suppress(sqlite3.Error):
            if self.meta("finished_at") is not None:
                self.database.execute("PRAGMA journal_mode = DELETE")
        self.database.close()

    def find(self, query: str, *values: object) -> Any:
        """The first column of the first row; None without a row."""
        row = self.database.execute(query, values).fetchone()
        return None if row is None else row[0]

    def put(self, table: str, texts: Mapping[str, str]) -> None:
        """Writes rows of a table of keys and values, over older ones."""
        self.database.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", texts.items())

    def meta(self, key: str) -> str | None:
        text: str | None = self.find("SELECT value FROM meta WHERE key = ?", key)
        return text

    def environment(self, key: str) -> object:
        """The recorded value, or None."""
        text = self.find("SELECT value FROM environment WHERE key = ?", key)
        return None if text is None else json.loads(text)

    def plan(self) -> list[PlannedTrial]:
        query = "SELECT block, position, cell_id, kind, sitting FROM plan ORDER BY block, position"
        return [PlannedTrial(*row) for row in self.database.execute(query)]

    def left(self, kind: str | None = None, block: int | None = None) -> list[PlannedTrial]:
        """The planned trials that are not recorded yet or must be repeated, in order: of one kind
        and block, or of all."""
        query = f"SELECT block, cell_id FROM trial WHERE NOT {SUPERSEDED}"
        done = set(self.database.execute(query))
        return [
            planned
            for planned in self.plan()
            if (planned.block, planned.cell_id) not in done
            and kind in (None, planned.kind)
            and block in (None, planned.block)
        ]

    def attempts(self, batch: Sequence[PlannedTrial]) -> int:
        """The largest number of attempts of one of these trials so far."""
        query = "SELECT coalesce(max(attempt), 0) FROM trial WHERE block = ? AND cell_id = ?"
        return max(int(self.find(query, planned.block, planned.cell_id)) for planned in batch)

    def disturbed(self) -> dict[tuple[int, int], bool]:
        """By block and cell, whether a successful trial that counts was disturbed."""
        query = (
            "SELECT block, cell_id, status = 'ok' AND disturbed IS NOT NULL FROM trial "
            f"WHERE NOT {SUPERSEDED}"
        )
        return {(block, cell): bool(was) for block, cell, was in self.database.execute(query)}

    def blocks_done(self, kind: str) -> int:
        left = {planned.block for planned in self.left()}
        return len({planned.block for planned in self.plan() if planned.kind == kind} - left)

    def blocks_spoilt(self, kind: str) -> int:
        """Blocks in which a trial failed, or its client was the limit: they pair with none."""
        query = (
            "SELECT count(DISTINCT block) FROM trial WHERE kind = ? "
            f"AND (status != 'ok' OR client_bound IS NOT NULL) AND NOT {SUPERSEDED}"
        )
        return int(self.find(query, kind))

    def end_early(self, why: str) -> int:
        """Drops the remaining timed trials from the plan and records why; returns their number.

        Counted trials stay: they are few, and the only source of perf's counters.
        """
        dropped = self.left(TIMED)
        with self.database:
            for planned in dropped:
                place = (planned.block, planned.position)
                self.database.execute("DELETE FROM plan WHERE block = ? AND position = ?", place)
            self.put("meta", {"ended_early": why})
        return len(dropped)

    def failures(self) -> list[str]:
        return [str(row[0]) for row in self.database.execute(FAILURES)]

    def placement(self) -> str:
        query = "SELECT placement FROM cell UNION ALL SELECT placement FROM search LIMIT 1"
        return str(self.find(query) or "")

    def check_cells(self, cells: Sequence[Cell], table: str = "cell") -> None:
        """LedgerError unless the cells are the study's: the plan refers to them by number, as
        probes do to those of the table `search`."""
        wanted = [row_of(cell, *AS_RACED) for cell in cells]
        rows = self.database.execute(f"SELECT * FROM {table} ORDER BY id")
        names = [name for name, *_ in rows.description]
        recorded = [dict(zip(names, row, strict=True)) for row in rows]
        for row in recorded:
            del row["id"], row["placement"]
        if recorded != wanted:
            raise LedgerError(
                f"{self.path}: with the current programs, its study has other cells; "
                "resume with the programs that began it, or start a new race"
            )

    def record_environment(self, environment: dict[str, Any]) -> None:
        with self.database:
            self.put("environment", {key: to_json(value) for key, value in environment.items()})

    def record(
        self, trials: Sequence[Trial], again: bool = False, before: Sequence[PlannedTrial] = ()
    ) -> None:
        """Writes trials that ran at the same time, with their counters, in one transaction.

        All or nothing: otherwise a resumed race would run the missing ones without their rivals.
        `again`: these trials will be repeated, together with the recorded trials `before`; if the
        race is killed first, it repeats them when resumed.
        """
        with self.writing():
            for trial in trials:
                if again:
                    trial.conditions["repeated"] = True
                self.write_trial(trial)
            self.database.executemany(
                "UPDATE trial SET conditions = json_set(conditions, '$.repeated', json('true')) "
                f"WHERE block = ? AND cell_id = ? AND NOT {SUPERSEDED}",
                [(planned.block, planned.cell_id) for planned in before],
            )

    def write_trial(self, trial: Trial) -> None:
        trial_id = insert(self.database, "trial", row_of(trial, *BESIDE_ROW))
        for (side, origin, _), counter in trial.counters.items():
            place = {"trial_id": trial_id, "side": side, "origin": origin}
            insert(self.database, "counter", place | row_of(counter))
        for side, text in trial.printed.items():
            row = {"trial_id": trial_id, "side": side, "text": text}
            insert(self.database, "perf_stat", row)

    def was_begun(self) -> bool:
        return self.find("SELECT 1 FROM sitting LIMIT 1") is not None

    def record_sitting(self, sitting: Sitting) -> None:
        """Records the start of a sitting, or its continuation."""
        with self.writing():
            insert(self.database, "sitting", row_of(sitting))

    def probes(self) -> list[Probe]:
        """All valid probes, in order."""
        return read_probes(self.database)

    def record_probe(self, probe: Probe, again: bool) -> None:
        """`again`: it was disturbed, and another probe at the same rate will replace it."""
        row = row_of(probe.planned) | row_of(probe, "planned") | {"again": again}
        with self.writing():
            insert(self.database, "probe", row)

    def settled(self) -> bool:
        """Whether the plan is known."""
        return self.find("SELECT 1 FROM cell LIMIT 1") is not None

    def settle(
        self,
        cells: Sequence[Cell],
        plan: Sequence[PlannedTrial],
        place: str,
        meta: Mapping[str, str],
    ) -> None:
        """Writes the cells and the whole plan, once all sustained rates are known.

        `meta`: the settings of the race that follow from them.
        """
        with self.writing():
            write_plan(self.database, cells, plan, place)
            self.put("meta", meta)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction; LedgerError with advice if the disk is full."""
        try:
            with self.database:
                yield
        except sqlite3.OperationalError as error:
            raise LedgerError(
                f"cannot write {self.path}: {error}; free some space, then continue with --resume"
            ) from error

    def finish(self) -> None:
        """Marks the race as finished; an unfinished race can be resumed."""
        with self.database:
            self.put("meta", {"finished_at": f"{time.time():.3f}"})
