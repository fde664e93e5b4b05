"""The table "metric | server | client" of one cell as text, in perf stat's order and units."""

from dataclasses import dataclass

from regatta.analysis.perf_table import CounterMeans, CounterRow
from regatta.analysis.results import CellResult
from regatta.ledger.counters import COUNTED, NOT_SUPPORTED
from regatta.ledger.metrics import BY_NAME, SIDES
from regatta.report.text.numbers import short

DERIVED_AFTER = {
    "cpu-time": ("cpus_utilized", "CPUs utilized"),
    "instructions": ("instructions_per_cycle", "insn per cycle"),
    "branch-misses": ("branch_miss_rate", "% of all branches"),
    "cache-misses": ("cache_miss_rate", "% of all cache refs"),
}
"""What perf stat prints behind a counter."""


@dataclass(frozen=True)
class CounterText:
    per_trial: str
    per_request: str
    missing: bool


@dataclass(frozen=True)
class CounterLine:
    event: str
    unit: str
    origin: str
    kind: str
    figures: list[CounterText]
    """Of the server, then of the client."""
    notes: list[str]
    """Such as `0.95 CPUs utilized`, of the server, then of the client."""


def counter_lines(result: CellResult) -> list[CounterLine]:
    """Of what one side at least could have counted."""
    return [_line(result, row) for row in result.perf.rows if not _unsupported(row)]


def absent(result: CellResult) -> list[str]:
    """What the machine cannot count on either side, by name."""
    return [row.event for row in result.perf.rows if _unsupported(row)]


def elapsed(result: CellResult) -> str:
    elapsed_ns = result.perf.elapsed_ns
    return "no timed trial" if elapsed_ns is None else f"{elapsed_ns / 1e9:.6f}"


def _unsupported(row: CounterRow) -> bool:
    return all(row.sides[side].state == NOT_SUPPORTED for side in SIDES)


def _line(result: CellResult, row: CounterRow) -> CounterLine:
    in_ms = row.unit == "ns"
    figures = [_figure(row.sides[side], row.unit) for side in SIDES]
    unit = "ms" if in_ms else row.unit if row.unit != "count" else ""
    notes = [_note(result, side, row) for side in SIDES]
    return CounterLine(row.event, unit, row.origin, row.kind, figures, notes)


def _figure(entry: CounterMeans, unit: str) -> CounterText:
    if entry.state != COUNTED or entry.per_trial is None:
        return CounterText(entry.state, "", True)
    if unit == "ns":
        each = "" if entry.per_request is None else f"{short(entry.per_request / 1e3)} µs"
        return CounterText(f"{entry.per_trial / 1e6:,.2f}", each, False)
    if unit == "%":
        return CounterText(f"{entry.per_trial:.1f} %", "", False)
    each = "" if entry.per_request is None else short(entry.per_request)
    whole = entry.per_trial == round(entry.per_trial) or entry.per_trial >= 1000
    return CounterText(
        f"{entry.per_trial:,.0f}" if whole else f"{entry.per_trial:,.1f}", each, False
    )


def _note(result: CellResult, side: str, row: CounterRow) -> str:
    if row.origin != "perf" or row.event not in DERIVED_AFTER:
        return ""
    name, words = DERIVED_AFTER[row.event]
    estimate = result.estimates[side, BY_NAME[name].name]
    return "" if estimate.value is None else f"{estimate.value:.2f} {words}"
