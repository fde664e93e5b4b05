"""What a request's CPU time is spent on, and which of it makes the difference between contenders.

From sampled trials: the time of each activity of the server's CPUs, divided by the answers. An
activity that a trial has no sample of took no time in it. Differences to the front-runner are
paired within blocks; those of all rows and contenders of a table are one family
(statistics/joint.py) with a family-wise error rate of 5 % and simultaneous intervals.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

import numpy as np

from regatta.judge.estimates import Estimate
from regatta.judge.overheads import Difference, differences
from regatta.judge.statistics.autocorrelation import mean_interval
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import Units
from regatta.record.activities import (
    ACTIVITIES,
    IDLE,
    OTHERS,
    PACKETS,
    SEPARATOR,
    SYSTEM_CALLS,
    USER,
    path_of,
)
from regatta.record.readings import busy_per_request
from regatta.record.records import OK, SAMPLED, SAMPLES, SERVER, Trial

DETAIL = {USER: 3, SYSTEM_CALLS: 2, PACKETS: 2}
"""Names in a row: of file and function, of the call, of the protocol; else 1."""
LEAST_SHARE = 0.01
"""Of a contender's time: a row that has less in all of them is part of `other`."""
OTHER = "other"
TOTAL = "all"
NS_PER_US = 1e3

Activities = Mapping[str, BlockValues]
"""By path, µs per request in each block; every path has the same blocks."""


class Sampled(Protocol):
    @property
    def activities(self) -> Activities: ...

    @property
    def busy(self) -> BlockValues:
        """How long its CPUs were busy per request in timed trials."""

    @property
    def busy_sampled(self) -> BlockValues:
        """The same in sampled ones."""


@dataclass(frozen=True)
class Anatomy:
    """Of the contenders at one step that have samples."""

    at: int
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


def busy_sampled(trials: Iterable[Trial]) -> BlockValues:
    """How long the CPUs were busy per request in sampled trials, in µs."""
    found = {
        trial.block: busy_per_request(trial, SERVER)
        for trial in trials
        if trial.kind == SAMPLED and trial.status == OK
    }
    return {block: busy for block, busy in found.items() if not isinstance(busy, str)}


def activities(trials: Iterable[Trial]) -> Activities:
    """Of a cell's trials; empty if none was sampled."""
    blocks: dict[int, dict[str, float]] = {}
    for trial in trials:
        spent = {
            path: counter.value / NS_PER_US / trial.answered
            for (side, origin, path), counter in trial.counters.items()
            if (side, origin) == (SERVER, SAMPLES) and counter.value is not None and trial.answered
        }
        if trial.kind == SAMPLED and trial.status == OK and spent:
            blocks[trial.block] = spent
    paths = dict.fromkeys(path for spent in blocks.values() for path in spent)
    return {
        path: {block: spent.get(path, 0.0) for block, spent in blocks.items()} for path in paths
    }


def anatomy(
    at: int, step: Mapping[str, Sampled], front: str | None, units: Units
) -> Anatomy | None:
    """None if no contender of the step has samples. `front`: of the standings there."""
    of = {name: spent for name, raced in step.items() if (spent := in_rows(raced.activities))}
    if not of:
        return None
    for name in (of_file, of_kind):
        spent_on = {row for spent in of.values() for row in spent if row != TOTAL}
        small = {row: name(row) for row in spent_on if is_small(row, of)}
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
    known = {name: busy for name in full if (busy := mean(step[name].busy))}
    more = differences(numbered, front or "", units)
    return Anatomy(
        at,
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
        {name: mean(full[name][TOTAL]) / busy for name, busy in known.items()},
        {name: mean(step[name].busy_sampled) / busy for name, busy in known.items()},
    )


def in_rows(paths: Activities) -> dict[str, BlockValues]:
    """Without idling and other programs; and their sum."""
    busy = {path: blocks for path, blocks in paths.items() if path not in (IDLE, OTHERS)}
    rows = summed(busy, {path: row_of(path) for path in busy})
    return rows | summed(busy, dict.fromkeys(busy, TOTAL))


def row_of(path: str) -> str:
    names = path.split(SEPARATOR)
    return path_of(*names[: DETAIL.get(names[0], 1)])


def is_small(row: str, of: Mapping[str, Activities]) -> bool:
    return all(mean(spent.get(row)) < LEAST_SHARE * mean(spent[TOTAL]) for spent in of.values())


def of_file(row: str) -> str:
    """Where a small function is added."""
    names = row.split(SEPARATOR)
    return path_of(*names[:2], OTHER) if names[2:] else row


def of_kind(row: str) -> str:
    """Where a small row is added, if its kind is divided."""
    first, *rest = row.split(SEPARATOR)
    return path_of(first, OTHER) if rest else row


def summed(of: Activities, names: Mapping[str, str]) -> dict[str, BlockValues]:
    """With these names for some; what then has the same name is added up."""
    found: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for path, blocks in of.items():
        for block, value in blocks.items():
            found[names.get(path, path)][block] += value
    return {path: dict(blocks) for path, blocks in found.items()}


def order(row: str, of: Mapping[str, Activities]) -> tuple[int, bool, float]:
    """That of ACTIVITIES; within one the largest first, and `other` and the sum last."""
    first, *rest = row.split(SEPARATOR)
    place = len(ACTIVITIES) if row == TOTAL else ACTIVITIES.index(first)
    return place, rest[-1:] == [OTHER], -sum(mean(spent.get(row)) for spent in of.values())


def mean(blocks: BlockValues | None) -> float:
    return fmean(blocks.values()) if blocks else 0.0


def estimate(blocks: BlockValues, units: Units) -> Estimate:
    found = mean_interval(np.array(list(blocks.values())), units.reach_of(list(blocks)))
    return Estimate(**vars(found), trials=len(blocks))
