"""The counter table of one cell: metric, server, client, in perf stat's order."""

from collections import Counter as Tally
from dataclasses import dataclass

from regatta.judge.statistics.sign_flips import BlockValues
from regatta.record.counters import COUNTED, COUNTERS, NOT_SUPPORTED, Counter, parse_event_name
from regatta.record.metrics import SIDES
from regatta.record.records import COUNTED_TRIAL, TIMED, Trial

ORDER = [counter.name for counter in COUNTERS]
Found = tuple[str, Trial, Counter]
"""A counter of one side."""


@dataclass(frozen=True)
class CounterMeans:
    totals: BlockValues
    """By block; empty if it was not counted, and `state` says why."""
    state: str
    running_percent: float | None = None
    """Share of the time that it was counted; None if unknown."""


@dataclass(frozen=True)
class CounterRow:
    origin: str
    event: str
    unit: str
    sides: dict[str, CounterMeans]


@dataclass(frozen=True)
class PerfTable:
    rows: list[CounterRow]
    trials: dict[str, int]
    printed: dict[str, str]
    """perf stat's output for each side, from the first whole-process trial."""


def perf_table(ok: list[Trial]) -> PerfTable:
    """From the usable trials of a cell."""
    found: dict[tuple[str, str], list[Found]] = {}
    for trial in ok:
        for (side, origin, event), counter in trial.counters.items():
            found.setdefault((origin, event), []).append((side, trial, counter))
    return PerfTable(
        [_row(*key, found[key]) for key in sorted(found, key=_position)],
        dict(Tally(trial.kind for trial in ok)),
        next((trial.printed for trial in ok if trial.printed), {}),
    )


def _position(key: tuple[str, str]) -> tuple[bool, int, str]:
    origin, event = key
    name = parse_event_name(event).name
    known = ORDER.index(name) if name in ORDER else len(ORDER)
    return origin != "perf", known, event


def _row(origin: str, event: str, found: list[Found]) -> CounterRow:
    unit = next((counter.unit for *_, counter in found if counter.unit), "")
    # Prefer times from timed trials, which counting does not disturb.
    preferred = TIMED if unit == "ns" else COUNTED_TRIAL
    of_kind = [of for of in found if of[1].kind == preferred] or found
    sides = {side: _means([of for of in of_kind if of[0] == side]) for side in SIDES}
    return CounterRow(origin, event, unit, sides)


def _means(found: list[Found]) -> CounterMeans:
    totals: BlockValues = {}
    percents = []
    for _, trial, counter in found:
        if counter.state == COUNTED and counter.value is not None:
            totals[trial.block] = counter.value
            percents += [] if counter.running_percent is None else [counter.running_percent]
    if not totals:
        return CounterMeans(totals, found[0][2].state if found else NOT_SUPPORTED)
    return CounterMeans(totals, COUNTED, sum(percents) / len(percents) if percents else None)
