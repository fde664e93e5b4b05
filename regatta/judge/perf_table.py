"""The counter table of one cell: metric, server, client, in perf stat's order."""

from collections.abc import Iterable
from dataclasses import dataclass

from regatta.judge.statistics.sign_flips import BlockValues
from regatta.record.counters import (
    COUNTED,
    COUNTERS,
    NOT_SUPPORTED,
    SUMMED,
    Counter,
    parse_event_name,
)
from regatta.record.metrics import SIDES
from regatta.record.records import COUNTED_TRIAL, TIMED, Trial

ORDER = [counter.name for counter in COUNTERS]


@dataclass(frozen=True)
class CounterMeans:
    totals: BlockValues
    """By block; empty if it was not counted, and `state` says why."""
    shares: BlockValues
    """The same per request; empty for shares and peaks, which are not sums."""
    state: str
    running_percent: float | None = None
    """Share of the time that it was counted; None if unknown."""

    @property
    def per_trial(self) -> float | None:
        return _mean(self.totals.values())

    @property
    def per_request(self) -> float | None:
        return _mean(self.shares.values())


@dataclass(frozen=True)
class CounterRow:
    origin: str
    event: str
    unit: str
    kind: str
    """Of the trials it comes from."""
    sides: dict[str, CounterMeans]


@dataclass(frozen=True)
class PerfTable:
    rows: list[CounterRow]
    elapsed_ns: float | None
    """Mean length of the window of the timed trials."""
    requests: float | None
    trials: dict[str, int]
    printed: dict[str, str]
    """perf stat's output for each side, from the first whole-process trial."""


def perf_table(ok: list[Trial]) -> PerfTable:
    """From the usable trials of a cell."""
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
        next((trial.printed for trial in ok if trial.printed), {}),
    )


def _position(key: tuple[str, str]) -> tuple[bool, int, str]:
    origin, event = key
    name = parse_event_name(event).name
    known = ORDER.index(name) if name in ORDER else len(ORDER)
    return origin != "perf", known, event


def _row(origin: str, event: str, by_kind: dict[str, list[Trial]]) -> CounterRow:
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
    # Prefer times from timed trials, which counting does not disturb.
    first, second = (TIMED, COUNTED_TRIAL) if unit == "ns" else (COUNTED_TRIAL, TIMED)
    kind = first if _carry(by_kind[first], origin, event) else second
    entries = {side: _entry(by_kind[kind], side, origin, event, unit) for side in SIDES}
    return CounterRow(origin, event, unit, kind, entries)


def _carry(trials: list[Trial], origin: str, event: str) -> bool:
    return any((side, origin, event) in trial.counters for trial in trials for side in SIDES)


def _entry(trials: list[Trial], side: str, origin: str, event: str, unit: str) -> CounterMeans:
    found: list[tuple[Counter, Trial]] = [
        (trial.counters[side, origin, event], trial)
        for trial in trials
        if (side, origin, event) in trial.counters
    ]
    counted = [
        (counter.value, trial, counter.running_percent)
        for counter, trial in found
        if counter.state == COUNTED and counter.value is not None
    ]
    if not counted:
        return CounterMeans({}, {}, found[0][0].state if found else NOT_SUPPORTED)
    totals = {trial.block: value for value, trial, _ in counted}
    shares = {trial.block: value / trial.answered for value, trial, _ in counted if trial.answered}
    return CounterMeans(
        totals=totals,
        shares=shares if unit in SUMMED else {},
        state=COUNTED,
        running_percent=_mean(running for _, _, running in counted),
    )


def _mean(numbers: Iterable[float | None]) -> float | None:
    present = [number for number in numbers if number is not None]
    return sum(present) / len(present) if present else None
