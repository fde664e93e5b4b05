"""Whether servers were warm when they were measured, and what it took.

Each process is watched until it is steady (record/steady.py). A contender of which more than one in
ten processes were not cannot win. A plateau may look like the end, and one process shows a slow
change less well than all: so the cost in the window is compared with that at the end of the
warm-up, one ratio a process, over all processes of a contender; that too must not move by more than
the tolerance.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regatta.judge.interval import Interval
from regatta.judge.statistics.joint import PairedMean
from regatta.record.cell import PROCESS, Cell
from regatta.record.records import OK, Trial
from regatta.record.steady import FEWEST, LEVEL_TOLERANCE, STEADY, Slice, curve_of, tail_of

ONE_IN = 10
"""More than one in this many processes is too many."""
FEWEST_PROCESSES = 3


@dataclass(frozen=True)
class ContenderWarmUp:
    """Of all processes of one contender under one kind of load."""

    contender: str
    work: str
    load: str
    """Of the first process, which was watched from its first request."""
    kind: str
    """How that one became warm ..."""
    requests: int
    """... after so many requests ..."""
    seconds: float
    """... and seconds of load."""
    watched: int
    """Processes."""
    unsteady: int
    """Processes that were not steady within the limit."""
    moves: Interval | None
    """Cost in the window over that at the end of the warm-up; None with too few processes."""
    curve: tuple[Slice, ...]

    @property
    def why_not(self) -> str:
        """Why it cannot win; empty if it was warm."""
        if ONE_IN * self.unsteady > self.watched:
            return f"not steady in {self.unsteady} of {self.watched} processes"
        moves = self.moves
        if moves and (moves.low > 1 + LEVEL_TOLERANCE or moves.high < 1 - LEVEL_TOLERANCE):
            return f"not steady: {moves.value:.2f} times as much in the window as before it"
        return ""


def warm_ups(
    firsts: Sequence[Mapping[str, Any]], cells: Sequence[Cell], trials: Mapping[int, list[Trial]]
) -> list[ContenderWarmUp]:
    """`firsts`: of the ledger's environment, in the order of the race."""
    return [_warm_up(first, cells, trials) for first in firsts]


def not_steady(cell: Cell, trials: Sequence[Trial], firsts: Sequence[Mapping[str, Any]]) -> str:
    """Why this cell's servers cannot win; empty if they were warm."""
    if cell.scope == PROCESS or cell.cold is not None:
        return ""
    found = next((one for one in firsts if _is_of(one, cell)), None)
    return "" if found is None else _warm_up(found, [cell], {cell.id: list(trials)}).why_not


def _is_of(first: Mapping[str, Any], cell: Cell) -> bool:
    asked = cell.path or cell.request or cell.work
    return (first["contender"], first["work"]) == (cell.contender, asked)


def _warm_up(
    first: Mapping[str, Any], cells: Sequence[Cell], trials: Mapping[int, list[Trial]]
) -> ContenderWarmUp:
    own = [cell for cell in cells if _is_of(first, cell) and cell.cold is None]
    watched = [
        (cell, trial)
        for cell in own
        for trial in trials.get(cell.id, [])
        if trial.status == OK and "warm_up" in trial.conditions
    ]
    steady = [trial.conditions["warm_up"]["kind"] in STEADY for _, trial in watched]
    ratios = np.array(list(_moves(watched)))
    mean = PairedMean(ratios) if len(ratios) >= FEWEST_PROCESSES else None
    interval = mean.interval() if mean is not None else None
    return ContenderWarmUp(
        contender=first["contender"],
        work=first["work"],
        load=first["load"],
        kind=first["kind"],
        requests=first["requests"],
        seconds=first["seconds"],
        watched=len(watched),
        unsteady=steady.count(False),
        moves=Interval(mean.mean, *interval).through(math.exp) if mean and interval else None,
        curve=tuple(curve_of(first["slices"])),
    )


def _moves(watched: Sequence[tuple[Cell, Trial]]) -> Iterator[float]:
    """Logarithms of window over warm-up, of loads that are the same in both: bursts differ in
    length, and idle connections are opened only for the window."""
    for cell, trial in watched:
        if cell.load != "open" or cell.idle or cell.slow:
            continue
        if trial.conditions["warm_up"]["kind"] not in STEADY:  # perhaps watched at its fastest only
            continue
        before = tail_of(curve_of(trial.conditions["warm_slices"]), FEWEST // 2)
        window = curve_of(trial.conditions["window_slices"])
        costs = [float(np.median([one.cpu_us for one in part])) for part in (window, before)]
        if min(costs) > 0:
            yield float(np.log(costs[0] / costs[1]))
