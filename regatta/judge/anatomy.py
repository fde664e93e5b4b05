"""Why: what a request's CPU time is spent on, which of it makes the difference between contenders,
and where the request's time goes.

From sampled trials: the time of each stack of the server's CPUs, divided by the answers. One that
a trial has no sample of took no time in it. Stacks are added up by activity. Differences to the
front-runner are paired within blocks; those of all rows and contenders of a table are one family
(statistics/joint.py) with a family-wise error rate of 5 % and simultaneous intervals.

From traced trials: the stages of the requests near p50 and p99, pooled over trials, and of the
slowest. They are few, so these figures have no intervals and decide nothing: they say what a
latency that was judged elsewhere is made of.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

import numpy as np

from regatta.judge.activity import activity
from regatta.judge.estimates import Estimate
from regatta.judge.overheads import Difference, differences
from regatta.judge.statistics.autocorrelation import mean_interval
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import Units
from regatta.record.readings import busy_per_request
from regatta.record.recordings import (
    ACTIVITIES,
    IDLE,
    OTHERS,
    PACKETS,
    SEPARATOR,
    STAGES,
    SYSTEM_CALLS,
    USER,
    Requests,
    Slow,
    folded,
    unpack_requests,
    unpack_stacks,
)
from regatta.record.records import OK, SERVER, TRACED, Trial

DETAIL = {USER: 3, SYSTEM_CALLS: 2, PACKETS: 2}
"""Names in a row: of file and function, of the call, of the protocol; else 1."""
LEAST_SHARE = 0.01
"""Of a contender's time: a row that has less in all of them is part of `other`."""
OTHER = "other"
TOTAL = "all"
NS_PER_US = 1e3
BANDS = {"p50": (45.0, 55.0), "p99": (98.5, 99.5)}
"""Between which percentiles of the whole time the requests are that are averaged."""
LEAST_IN_BAND = 5

Spent = Mapping[str, BlockValues]
"""By stack, activity or row, µs per request in each block; all have the same blocks."""


class Sampled(Protocol):
    @property
    def stacks(self) -> Spent: ...

    @property
    def busy(self) -> BlockValues:
        """How long its CPUs were busy per request in timed trials."""

    @property
    def busy_sampled(self) -> BlockValues:
        """The same in sampled ones."""


@dataclass(frozen=True)
class Anatomy:
    """Of the contenders at a table's last step that have samples."""

    rows: list[str]
    """Paths, in the order of a table; the last is TOTAL."""
    spent: dict[str, dict[str, Estimate]]
    """By contender and row, in µs per request."""
    front: str | None
    """The one that the others are compared with."""
    more: dict[str, dict[str, Difference]]
    """By contender and row, in µs per request more than the front-runner."""
    found: dict[str, float]
    """By contender, what all rows are of the CPUs' busy time in timed trials, if that is known."""
    cost: dict[str, float]
    """The same of the busy time in sampled trials: above 1 by what sampling costs."""

    @property
    def ranked(self) -> list[str]:
        """The contenders, the least first."""
        return sorted(self.spent, key=lambda name: self.spent[name][TOTAL].value or 0.0)


def busy_of(trials: Iterable[Trial], kind: str) -> BlockValues:
    """How long the CPUs were busy per request in trials of this kind, in µs."""
    found = {
        trial.block: busy_per_request(trial, SERVER)
        for trial in trials
        if trial.kind == kind and trial.status == OK
    }
    return {block: busy for block, busy in found.items() if not isinstance(busy, str)}


def stacks(trials: Iterable[Trial]) -> Spent:
    """Of a cell's trials, without idling and other programs; empty if none was sampled."""
    blocks: dict[int, dict[str, float]] = {}
    for trial in trials:
        if trial.status == OK and trial.stacks is not None and trial.answered:
            blocks[trial.block] = {
                stack: ns / NS_PER_US / trial.answered
                for stack, ns in unpack_stacks(trial.stacks).items()
            }
    found = dict.fromkeys(stack for spent in blocks.values() for stack in spent)
    return {
        stack: {block: spent.get(stack, 0.0) for block, spent in blocks.items()}
        for stack in found
        if activity(stack) not in {IDLE, OTHERS}
    }


def spent_on(of: Spent, activities: Sequence[str] = ()) -> dict[int, float]:
    """Time per request in each block, in all or for these activities. `of` is not empty."""
    wanted = tuple(f"{path}{SEPARATOR}" for path in activities) or ("",)
    stacks = [stack for stack in of if f"{activity(stack)}{SEPARATOR}".startswith(wanted)]
    blocks = next(iter(of.values()))
    return {block: sum(of[stack][block] for stack in stacks) for block in blocks}


def anatomy(step: Mapping[str, Sampled], front: str | None, units: Units) -> Anatomy | None:
    """None if no contender has samples. `front`: of the standings there."""
    of = {name: spent for name, raced in step.items() if (spent := in_rows(raced.stacks))}
    if not of:
        return None
    for name in (of_file, of_kind):
        known = {row for spent in of.values() for row in spent if row != TOTAL}
        small = {row: name(row) for row in known if is_small(row, of)}
        of = {name: summed(spent, small) for name, spent in of.items()}
    rows = sorted({row for spent in of.values() for row in spent}, key=lambda row: order(row, of))
    full = {
        name: {row: spent.get(row, dict.fromkeys(spent[TOTAL], 0.0)) for row in rows}
        for name, spent in of.items()
    }
    front = front if front in full else None
    numbered = {
        number: {name: spent[row] for name, spent in full.items()}
        for number, row in enumerate(rows)
    }
    busy_of = {name: busy for name in full if (busy := mean(step[name].busy))}
    more = differences(numbered, front or "", units)
    return Anatomy(
        rows,
        {
            name: {row: estimate(blocks, units) for row, blocks in spent.items()}
            for name, spent in full.items()
        },
        front,
        {
            name: {rows[found.at]: found for found in more if found.contender == name}
            for name in full
            if name != front
        },
        {name: mean(full[name][TOTAL]) / busy for name, busy in busy_of.items()},
        {name: mean(step[name].busy_sampled) / busy for name, busy in busy_of.items()},
    )


def in_rows(of: Spent) -> dict[str, BlockValues]:
    """And their sum."""
    rows = summed(of, {stack: row_of(activity(stack)) for stack in of})
    return rows | summed(of, dict.fromkeys(of, TOTAL))


def row_of(path: str) -> str:
    names = path.split(SEPARATOR)
    return folded(*names[: DETAIL.get(names[0], 1)])


def is_small(row: str, of: Mapping[str, Spent]) -> bool:
    return all(mean(spent.get(row)) < LEAST_SHARE * mean(spent[TOTAL]) for spent in of.values())


def of_file(row: str) -> str:
    """Where a small function is added."""
    names = row.split(SEPARATOR)
    return folded(*names[:2], OTHER) if names[2:] else row


def of_kind(row: str) -> str:
    """Where a small row is added, if its kind is divided."""
    first, *rest = row.split(SEPARATOR)
    return folded(first, OTHER) if rest else row


def summed(of: Spent, names: Mapping[str, str]) -> dict[str, BlockValues]:
    """With these names for some; what then has the same name is added up."""
    found: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for path, blocks in of.items():
        for block, value in blocks.items():
            found[names.get(path, path)][block] += value
    return {path: dict(blocks) for path, blocks in found.items()}


def order(row: str, of: Mapping[str, Spent]) -> tuple[int, bool, float]:
    """That of ACTIVITIES; within one the largest first, and `other` and the sum last."""
    first, *rest = row.split(SEPARATOR)
    place = len(ACTIVITIES) if row == TOTAL else ACTIVITIES.index(first)
    return place, rest[-1:] == [OTHER], -sum(mean(spent.get(row)) for spent in of.values())


def mean(blocks: BlockValues | None) -> float:
    return fmean(blocks.values()) if blocks else 0.0


def estimate(blocks: BlockValues, units: Units) -> Estimate:
    found = mean_interval(np.array(list(blocks.values())), units.reach_of(list(blocks)))
    return Estimate(**vars(found), trials=len(blocks))


@dataclass(frozen=True)
class TimeSpent:
    """Of a cell's traced trials."""

    requests: int
    at: dict[str, dict[str, float]]
    """By name of BANDS, the µs of each of STAGES; a band with too few requests is left out."""
    slowest: list[Slow]
    """The slowest first."""
    cost: float | None
    """What busy time per request is of that in timed trials; None if it is not counted."""


def time_spent(trials: Sequence[Trial], busy: BlockValues) -> TimeSpent | None:
    """None without traced trials. `busy`: of timed trials, µs per request."""
    found: list[Requests] = [
        unpack_requests(trial.traced)
        for trial in trials
        if trial.status == OK and trial.traced is not None
    ]
    if not found:
        return None
    spent = np.array([row for requests in found for row in requests.spent]) / NS_PER_US
    slowest = [slow for requests in found for slow in requests.slowest]
    return TimeSpent(
        sum(requests.count for requests in found),
        {name: near for name, band in BANDS.items() if (near := in_band(spent, band))},
        sorted(slowest, key=lambda slow: -slow.took_ns),
        mean(traced) / mean(busy) if (traced := busy_of(trials, TRACED)) and busy else None,
    )


def in_band(spent: np.ndarray, band: tuple[float, float]) -> dict[str, float]:
    """Means by stage; empty with too few requests. `spent`: a row a request."""
    order = np.argsort(spent.sum(axis=1), kind="stable")
    low, high = (round(len(order) * percent / 100) for percent in band)
    if high - low < LEAST_IN_BAND:
        return {}
    return dict(zip(STAGES, spent[order[low:high]].mean(axis=0).tolist(), strict=True))
