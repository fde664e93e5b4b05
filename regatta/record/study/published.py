"""The published figures of a study's claims and baseline, which reports show next to the measured
ones.

There are two kinds of CSV files; lines that begin with # name the source. Long: one row for each
report, design, number of connections and side, and one column for each metric, whose name ends in
its unit; a column `note` is ignored. Wide: one row per design and one column per machine, up to 12;
the study names the metric.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from regatta.errors import StudyError
from regatta.record.inputs import (
    BOTH,
    OVER_ITERATIVE,
    PublishedFigure,
    PublishedTable,
    RecordedClaim,
    Statement,
)
from regatta.record.metrics import BY_NAME, FRACTIONS, RATES, SIDES, THROUGHPUT
from regatta.record.study import Claim, Source, Study

KEYS = ("report", "design", "connections", "side")
NOTE = "note"
MAX_COLUMNS = 12
MAX_ROWS = 100_000
UNITS = {"ms": "_ms", "s": "_s", "%": "_percent"}
SHARES = {
    "instructions_per_cycle": ("instructions", "cycles", 1.0, ""),
    "branch_miss_rate": ("branch_misses", "branches", 100.0, "%"),
    "cache_miss_rate": ("cache_misses", "cache_references", 100.0, "%"),
    "stalled_cycles_frontend_share": ("stalled_cycles_frontend", "cycles", 100.0, "%"),
    "stalled_cycles_backend_share": ("stalled_cycles_backend", "cycles", 100.0, "%"),
    "cpus_utilized": ("task_clock_ms", "elapsed_s", 1e-3, ""),
    "clock_ghz": ("cycles", "task_clock_ms", 1e-6, "GHz"),
    **{name: (kind.claimed_as, "task_clock_ms", 1e3, "/s") for name, kind in RATES.items()},
}
"""Metrics computed from two published figures: numerator, denominator, factor, unit."""
OTHER_NAMES = {"system_time": "system", "user_time": "user"}
ELAPSED = "elapsed"
"""The client's total run time, which sources publish instead of latencies."""
INSTEAD_ELAPSED = {BY_NAME[name].claimed_as for name in (*FRACTIONS, THROUGHPUT.name)}
"""Metrics for which a source has only ELAPSED."""

Figures = dict[tuple[str, int, str], dict[str, float]]
"""By design, connections and side: the figures by metric."""


def recorded_claims(study: Study) -> tuple[RecordedClaim, ...]:
    """The claims with their sources' figures, for the ledger."""
    named = sorted({claim.source for claim in study.claims if claim.source is not None})
    loaded = {name: load(name, study.sources[name], study.folder) for name in named}
    found = []
    for claim in study.claims:
        if claim.source is None:
            found.append(RecordedClaim(claim))
            continue
        title = study.sources[claim.source].title or claim.source
        figures = [
            figure
            for statement in claim.statements
            for figure in figures_of(claim, statement, loaded[claim.source])
        ]
        found.append(RecordedClaim(claim, title, tuple(dict.fromkeys(figures))))
    return tuple(found)


def load(name: str, source: Source, folder: Path) -> list[PublishedFigure] | Figures:
    if source.published is None:
        return []
    path = folder / source.published
    if source.metric is None:
        return read_rows(path, name)
    if source.connections is None:
        raise StudyError(f"`sources.{name}` has a `metric` but no `connections`; add it")
    wide = read_published(path, f"sources.{name}.published")
    return [
        PublishedFigure(
            design=design,
            connections=source.connections,
            value=value,
            unit="s" if column.endswith("_s") else "",
            per="process",
            side="server",
            metric=source.metric,
            column=column.removesuffix("_s").replace("_", " "),
        )
        for design, row in wide.rows.items()
        for column, value in zip(wide.columns, row, strict=True)
        if value is not None
    ]


def read_published(path: Path, key: str = "baseline.published") -> PublishedTable:
    """A wide file; `key`: the study's key that names it, for errors."""
    source, reader = read_csv(path, key)
    columns = [name for name in reader.fieldnames or [] if name != "design"]
    if "design" not in (reader.fieldnames or []) or not 0 < len(columns) <= MAX_COLUMNS:
        raise StudyError(f"{path}: the header must have `design` and 1 to {MAX_COLUMNS} others")
    rows = {row["design"]: [number(path, row[column]) for column in columns] for row in reader}
    return PublishedTable(source.removeprefix("Source: "), columns, rows)


def read_rows(path: Path, report: str) -> Figures:
    _, reader = read_csv(path, f"sources.{report}.published")
    header = reader.fieldnames or []
    metrics = [name for name in header if name not in (*KEYS, NOTE)]
    if not metrics or not set(KEYS) <= set(header):
        raise StudyError(
            f"{path}: the header must have {', '.join(KEYS)} and metrics; for a file with a column "
            f"for each machine, add `metric` and `connections` to `sources.{report}`"
        )
    found: Figures = {}
    for count, row in enumerate(reader, start=1):
        if count > MAX_ROWS:
            raise StudyError(f"{path} has more than {MAX_ROWS:,} rows; remove some")
        if row["report"] != report:
            continue
        connections = row["connections"] or ""
        if not connections.isdecimal() or row["side"] not in SIDES:
            raise StudyError(
                f"{path}: row {count} has connections {connections!r} and side {row['side']!r}; "
                "they must be a number and server or client"
            )
        figures = found.setdefault((row["design"], int(connections), row["side"]), {})
        for metric in metrics:
            value = number(path, row[metric])
            if value is not None:
                figures[metric] = value
    return found


def read_csv(path: Path, key: str) -> tuple[str, csv.DictReader[str]]:
    """The text of its comments, and its rows."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"`{key}`: cannot read {path} ({error})") from error
    source = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    return source, csv.DictReader(line for line in lines if line and not line.startswith("#"))


def number(path: Path, text: str | None) -> float | None:
    """None for an empty field: a missing figure is not 0."""
    if not text or not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise StudyError(f"{path} contains {text!r}; it must be a finite number or empty")
    return value


def figures_of(
    claim: Claim, statement: Statement, loaded: list[PublishedFigure] | Figures
) -> Iterator[PublishedFigure]:
    """The figures of the statement, in its order."""
    if isinstance(loaded, list):
        for design, figure in product(statement.designs, loaded):
            is_of_it = (figure.design, figure.metric) == (design, statement.metric)
            if is_of_it and figure.connections in statement.connections:
                yield figure
        return
    sides: Sequence[str] = SIDES if statement.side == BOTH else (statement.side,)
    for connections, design, side in product(statement.connections, statement.designs, sides):
        found = find_published(statement.metric, loaded.get((design, connections, side), {}))
        if found is not None:
            value, unit, name, whole = found
            per = claim.per if whole else ""
            yield PublishedFigure(design, connections, value, unit, per, side, name)


def find_published(metric: str, here: Mapping[str, float]) -> tuple[float, str, str, bool] | None:
    """Value, unit, name, and whether it is a sum over a process; None if not published."""
    if metric in SHARES:
        top, bottom, factor, unit = SHARES[metric]
        if top in here and here.get(bottom):
            return here[top] / here[bottom] * factor, unit, metric, False
        return None
    name = OTHER_NAMES.get(metric, metric).removesuffix(OVER_ITERATIVE)
    if metric in INSTEAD_ELAPSED:
        name, metric = ELAPSED, ELAPSED
    for unit, ending in {"": "", **UNITS}.items():
        if name + ending in here:
            return here[name + ending], unit, metric, unit != "%" and metric != ELAPSED
    return None
