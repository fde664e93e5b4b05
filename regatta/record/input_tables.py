"""Writes and reads the tables of a race's inputs: written once, before its first trial.

Only lists and maps are stored as JSON.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from regatta.record.inputs import (
    BASELINE,
    CALIBRATION_ADAPTER,
    RECORDED,
    WHERE_KEYS,
    Baseline,
    Calibration,
    RaceInputs,
    RecordedClaim,
)
from regatta.record.validation import checked
from regatta.record.write import insert, to_json

Plain = dict[str, Any]


def write_inputs(database: sqlite3.Connection, inputs: RaceInputs) -> None:
    for recorded in inputs.claims:
        write_claim(database, recorded)
    if inputs.baseline is not None:
        write_baseline(database, inputs.baseline)
    if inputs.calibration is not None:
        write_calibration(database, inputs.calibration)


def read_inputs(database: sqlite3.Connection) -> RaceInputs:
    """ValueError, in a few words, for damaged tables."""
    return RaceInputs(read_claims(database), read_baseline(database), read_calibration(database))


def rows_of(database: sqlite3.Connection, table: str) -> list[Plain]:
    """In insertion order."""
    cursor = database.execute(f"SELECT * FROM {table} ORDER BY rowid")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def from_json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def write_claim(database: sqlite3.Connection, recorded: RecordedClaim) -> None:
    claim = recorded.claim
    row: list[object] = [claim.id, claim.says, claim.said_at, claim.note]
    row += [claim.source, recorded.source, claim.per]
    row += [int(claim.published_agrees), *map(claim.where.get, WHERE_KEYS)]
    insert(database, "claim", [*row, to_json(dict(claim.process_engines))])
    for position, said in enumerate(claim.statements, start=1):
        row = [claim.id, position, said.kind, said.metric, said.side]
        row += map(to_json, (said.connections, said.designs, said.groups))
        within = said.within
        row += [said.at_least, within.share, within.amount, within.unit]
        insert(database, "claim_statement", row)
    for one in recorded.published:
        row = [claim.id, one.design, one.connections, one.side, one.metric, one.column]
        insert(database, "claim_published", [*row, one.value, one.unit, one.per])


def read_claims(database: sqlite3.Connection) -> tuple[RecordedClaim, ...]:
    statements = rows_of(database, "claim_statement")
    published = rows_of(database, "claim_published")
    return tuple(
        checked(
            RECORDED,
            {
                "claim": {
                    **row,
                    "where": {key: row[key] for key in WHERE_KEYS if row[key] is not None},
                    "process_engines": from_json(row["process_engines"]),
                    "statements": [plain_statement(said) for said in of(row["id"], statements)],
                },
                "source": row["source_title"],
                "published": of(row["id"], published),
            },
        )
        for row in rows_of(database, "claim")
    )


def of(claim_id: str, rows: Sequence[Plain]) -> list[Plain]:
    return [row for row in rows if row["claim_id"] == claim_id]


def plain_statement(row: Plain) -> Plain:
    lists = {name: from_json(row[name]) for name in ("connections", "designs", "groups")}
    within = {name: row[f"within_{name}"] for name in ("share", "amount", "unit")}
    return {**row, **lists, "within": within}


def write_baseline(database: sqlite3.Connection, baseline: Baseline) -> None:
    table = baseline.published
    if table is None:
        insert(database, "baseline", (baseline.contender, None, None))
        return
    insert(database, "baseline", (baseline.contender, table.source, table.at))
    for contender, values in table.rows.items():
        for column, value in zip(table.columns, values, strict=True):
            insert(database, "baseline_published", (contender, column, value))


def read_baseline(database: sqlite3.Connection) -> Baseline | None:
    found = rows_of(database, "baseline")
    if not found:
        return None
    (row,) = found
    figures = rows_of(database, "baseline_published")
    by_contender: dict[str, list[object]] = {}
    for one in figures:
        by_contender.setdefault(one["contender"], []).append(one["value"])
    table = {
        "source": row["published_source"],
        "at": row["published_at"],
        "columns": list(dict.fromkeys(one["column"] for one in figures)),
        "rows": by_contender,
    }
    plain = {"contender": row["contender"], "published": table if figures else None}
    return checked(BASELINE, plain)


def write_calibration(database: sqlite3.Connection, known: Calibration | str) -> None:
    if isinstance(known, str):
        insert(database, "calibration", (*[None] * 6, known))
        return
    row = (known.taken_at, known.elapsed_s, known.regatta_version, int(known.quick), known.inject)
    insert(database, "calibration", (*row, to_json(known.machine), None))
    for goal in known.goals:
        words = (goal.name, goal.goal, goal.measured)
        insert(
            database, "calibration_goal", (*words, goal.met, goal.value, goal.outcome, goal.detail)
        )


def read_calibration(database: sqlite3.Connection) -> Calibration | str | None:
    found = rows_of(database, "calibration")
    if not found:
        return None
    (row,) = found
    if row["problem"] is not None:
        return str(row["problem"])
    goals = rows_of(database, "calibration_goal")
    for goal in goals:
        goal["met"] = None if goal["met"] is None else bool(goal["met"])
    known = {"machine": from_json(row["machine"]), "quick": bool(row["quick"]), "goals": goals}
    return checked(CALIBRATION_ADAPTER, row | known)
