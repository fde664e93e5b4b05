"""The table that lab reports print for one cell: metric, server, client, in perf stat's order."""

from dataclasses import dataclass

from regatta.analysis.metrics import SIDES
from regatta.ledger.counters import COUNTED
from regatta.ledger.read import Counter, Trial
from regatta.machine.perf_output import take_apart
from regatta.study.plan import COUNTED as COUNTED_TRIAL
from regatta.study.plan import TIMED

PERF_ORDER = (
    "task-clock",
    "cpu-clock",
    "context-switches",
    "cpu-migrations",
    "page-faults",
    "cycles",
    "instructions",
    "branches",
    "branch-misses",
    "cache-references",
    "cache-misses",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "tma_retiring",
    "tma_bad_speculation",
    "tma_frontend_bound",
    "tma_backend_bound",
    "syscalls",
    "cpu-time",
    "user-time",
    "system-time",
)
ABSENT = "not supported"


@dataclass(frozen=True)
class Entry:
    per_trial: float | None
    per_request: float | None
    """None for what is no sum, such as a percentage."""
    state: str


@dataclass(frozen=True)
class Row:
    origin: str
    event: str
    unit: str
    kind: str
    """Of the trials it was taken from."""
    sides: dict[str, Entry]


@dataclass(frozen=True)
class PerfTable:
    rows: list[Row]
    elapsed_ns: float | None
    """Mean length of the window of the timed trials."""
    requests: float | None
    trials: dict[str, int]


def perf_table(ok: list[Trial]) -> PerfTable:
    """From the trials of a cell that are used."""
    by_kind = {
        kind: [trial for trial in ok if trial.kind == kind] for kind in (TIMED, COUNTED_TRIAL)
    }
    keys = {(origin, event) for trial in ok for _, origin, event in trial.counters}
    rows = [_row(origin, event, by_kind) for origin, event in sorted(keys, key=_position)]
    timed = by_kind[TIMED]
    return PerfTable(
        rows,
        _mean([trial.window_ns for trial in timed]),
        _mean([trial.answered for trial in timed]),
        {kind: len(members) for kind, members in by_kind.items()},
    )


def _position(key: tuple[str, str]) -> tuple[bool, int, str]:
    origin, event = key
    name = take_apart(event).name
    known = PERF_ORDER.index(name) if name in PERF_ORDER else len(PERF_ORDER)
    return origin != "perf", known, event


def _row(origin: str, event: str, by_kind: dict[str, list[Trial]]) -> Row:
    unit = next(
        (
            counter.unit
            for members in by_kind.values()
            for trial in members
            for (_, of_origin, of_event), counter in trial.counters.items()
            if (of_origin, of_event) == (origin, event) and counter.unit
        ),
        "",
    )
    # Times are taken where counting does not disturb them, if they were measured there at all.
    first, second = (TIMED, COUNTED_TRIAL) if unit == "ns" else (COUNTED_TRIAL, TIMED)
    kind = first if _carry(by_kind[first], origin, event) else second
    entries = {side: _entry(by_kind[kind], side, origin, event, unit) for side in SIDES}
    return Row(origin, event, unit, kind, entries)


def _carry(trials: list[Trial], origin: str, event: str) -> bool:
    return any((side, origin, event) in trial.counters for trial in trials for side in SIDES)


def _entry(trials: list[Trial], side: str, origin: str, event: str, unit: str) -> Entry:
    found: list[tuple[Counter, Trial]] = [
        (trial.counters[side, origin, event], trial)
        for trial in trials
        if (side, origin, event) in trial.counters
    ]
    counted = [
        (counter.value, trial.answered)
        for counter, trial in found
        if counter.state == COUNTED and counter.value is not None
    ]
    if not counted:
        return Entry(None, None, found[0][0].state if found else ABSENT)
    shares = [value / answered for value, answered in counted if answered]
    return Entry(
        _mean([value for value, _ in counted]),
        None if unit == "%" else _mean(shares),
        COUNTED,
    )


def _mean(numbers: list[float] | list[int | None] | list[int]) -> float | None:
    present = [number for number in numbers if number is not None]
    return sum(present) / len(present) if present else None
