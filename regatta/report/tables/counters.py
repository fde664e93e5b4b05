"""The table "metric | server | client" of one cell as text, in perf stat's order and units."""

from dataclasses import dataclass

from regatta.analysis.perf_table import CounterMeans, CounterRow
from regatta.analysis.results import CellResult
from regatta.ledger.counters import ABSENT, BYTES, COUNT, COUNTED, NS, SWITCHED_OFF
from regatta.ledger.event_names import parse_event_name
from regatta.ledger.metrics import BYTES_PER_MIB, ON_CORE, RATES, SIDES
from regatta.report.text.numbers import short

SHOWN_UNITS = {NS: "ms", COUNT: "", BYTES: "MiB"}
A_SECOND = "/sec"
DERIVED_AFTER = {
    **{kind.name: ((name, A_SECOND),) for name, kind in RATES.items()},
    "task-clock": (("cpus_utilized", "CPUs utilized"),),
    "cycles": (("clock_ghz", "GHz"),),
    "instructions": (
        ("instructions_per_cycle", "insn per cycle"),
        ("stalled_cycles_per_instruction", "stalled cycles per insn"),
    ),
    "branch-misses": (("branch_miss_rate", "% of all branches"),),
    "cache-misses": (("cache_miss_rate", "% of all cache refs"),),
    "stalled-cycles-frontend": (
        ("stalled_cycles_frontend_share_percent", "% frontend cycles idle"),
    ),
    "stalled-cycles-backend": (("stalled_cycles_backend_share_percent", "% backend cycles idle"),),
}
"""What perf stat prints after a counter."""
WHOLE = 99.995
"""Per cent of the time: perf stat prints no share for a counter that ran all the time."""


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
    """The counters that at least one side supports."""
    return [_line(result, row) for row in result.perf.rows if not _unsupported(row)]


def absent(result: CellResult) -> list[str]:
    """The events that neither side supports, or that were switched off."""
    return [row.event for row in result.perf.rows if _unsupported(row)]


def absent_because(result: CellResult) -> str:
    off = any(row.sides[side].state == SWITCHED_OFF for row in result.perf.rows for side in SIDES)
    return "switched off by --no-perf" if off else "not supported by this machine"


def elapsed(result: CellResult) -> str:
    elapsed_ns = result.perf.elapsed_ns
    return "no timed trial" if elapsed_ns is None else f"{elapsed_ns / 1e9:.6f}"


def _unsupported(row: CounterRow) -> bool:
    return all(row.sides[side].state in ABSENT for side in SIDES)


def _line(result: CellResult, row: CounterRow) -> CounterLine:
    figures = [_figure(row.sides[side], row.unit) for side in SIDES]
    unit = SHOWN_UNITS.get(row.unit, row.unit)
    notes = [_note(result, side, row) for side in SIDES]
    return CounterLine(row.event, unit, row.origin, row.kind, figures, notes)


def _figure(entry: CounterMeans, unit: str) -> CounterText:
    if entry.state != COUNTED or entry.per_trial is None:
        return CounterText(entry.state, "", True)
    if unit == "ns":
        each = "" if entry.per_request is None else f"{short(entry.per_request / 1e3)} µs"
        return CounterText(f"{entry.per_trial / 1e6:,.2f}", each, False)
    if unit == BYTES:
        return CounterText(f"{entry.per_trial / BYTES_PER_MIB:,.2f}", "", False)
    if unit == "%":
        return CounterText(f"{entry.per_trial:.1f} %", "", False)
    each = "" if entry.per_request is None else short(entry.per_request)
    whole = entry.per_trial == round(entry.per_trial) or entry.per_trial >= 1000
    return CounterText(
        f"{entry.per_trial:,.0f}" if whole else f"{entry.per_trial:,.1f}", each, False
    )


def _note(result: CellResult, side: str, row: CounterRow) -> str:
    """`2.9 K/sec (93.90 %)`: what perf stat prints after the count."""
    if row.origin != "perf":
        return ""
    event = parse_event_name(row.event)
    on_core = f"{ON_CORE}{event.pmu}"
    of_one_kind = any(of == side and name.endswith(on_core) for of, name in result.estimates)
    known = [
        _derived(one.value, words)
        for name, words in DERIVED_AFTER.get(event.name, ())
        if (one := result.estimates.get((side, name + on_core if of_one_kind else name)))
        and one.value is not None
    ]
    running = row.sides[side].running_percent
    share = [] if running is None or running > WHOLE else [f"({running:.2f} %)"]
    return " ".join([", ".join(known), *share]).strip()


def _derived(value: float, words: str) -> str:
    if words != A_SECOND:
        return f"{value:.2f} {words}"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if value >= size:
            return f"{value / size:.2f} {letter}{words}"
    return f"{value:.2f} {words}"
