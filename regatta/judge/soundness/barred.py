"""Who cannot win: contenders that failed, missed the rate, answered otherwise, or were not warm."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regatta.judge.estimates import takes
from regatta.judge.interval import Interval
from regatta.judge.standings import FAILED
from regatta.judge.statistics.joint import PairedMean
from regatta.record.cell import PROCESS, Cell
from regatta.record.metrics import PRIMARY
from regatta.record.rate_search import STARTED_LIMIT
from regatta.record.records import DIFFER, OK, RaceRecord, Trial
from regatta.record.steady import FEWEST, LEVEL_TOLERANCE, STEADY, Slice, curve_of, tail_of

# Whose answers are not to be believed: others than the other contenders', or others under load.
# Such a contender does other work, so it cannot win, however few of its trials show it.

ANSWERS = "answers "
"""Each reason begins with it."""
WRONG = re.compile(r"(?:\d+|for example) (changed|early)\b(?:.*?\banswered ([^;)]*))?")
"""In a client's reason for a failed load (measure/trial, src/client/results/advice.c)."""


def unlike(ledger: RaceRecord) -> dict[str, str]:
    """By contender, what is wrong with its answers, in words that follow its name."""
    names = {cell.id: cell.contender for cell in ledger.cells}
    said = [(names[trial.cell_id], trial.reason or "") for trial in ledger.last_attempts]
    for search in ledger.searches:
        said += [(search.cell.contender, probe.why_not or "") for probe in search.probes]
    found: dict[str, str] = dict(ledger.environment.get(DIFFER) or {})
    for name, reason in said:
        if (wrong := WRONG.search(reason)) and wrong[1] == "early":
            found[name] = f"{ANSWERS}before it has read the request"
        elif wrong:
            found[name] = f"{ANSWERS}{wrong[2] or 'otherwise'} under load"
    return found


def started(cell: Cell, trials: Sequence[Trial]) -> float | None:
    """The share of due requests started, over all trials; None without an open load or requests."""
    made = sum(trial.requests or 0 for trial in trials)
    due = made + sum(trial.unstarted for trial in trials)
    return made / due if cell.load == "open" and due else None


def is_held(share: float | None) -> bool:
    return share is None or share >= STARTED_LIMIT


# Whether a contender failed, or missed the offered rate, in too many of its trials to win. The
# remaining trials would be a biased selection: the expensive ones may be those that failed.

ONE_IN = 10
"""More than one in this many trials, or processes, is too many."""


def failing(trials: Sequence[Trial]) -> str:
    """`failed`, or `failed in 4 of 10 trials`; empty if not too many."""
    if trials and all(trial.status != OK for trial in trials):
        return FAILED
    timed = [trial for trial in trials if takes(PRIMARY, trial)]
    often = _often(sum(trial.status != OK for trial in timed), len(timed))
    return f"{FAILED} {often}" if often else ""


def slow(cell: Cell, trials: Sequence[Trial]) -> str:
    """`in 3 of 10 trials` that missed the rate; empty if not too many."""
    timed = [trial for trial in trials if takes(PRIMARY, trial) and trial.counts]
    return _often(sum(not is_held(started(cell, [trial])) for trial in timed), len(timed))


def _often(bad: int, of: int) -> str:
    return f"in {bad} of {of} trials" if ONE_IN * bad > of else ""


# Each process is watched until it is steady (record/steady.py). A contender of which more than one
# in ten processes were not cannot win. A plateau may look like the end, and one process shows a
# slow change less well than all: so the cost in the window is compared with that at the end of the
# warm-up, one ratio a process, over all processes of a contender; that too must not move by more
# than the tolerance.

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
    found = next((first for first in firsts if _is_of(first, cell)), None)
    return "" if found is None else _warm_up(found, [cell], {cell.id: list(trials)}).why_not


def _is_of(first: Mapping[str, Any], cell: Cell) -> bool:
    asked = cell.path or cell.request or cell.work
    return (first["contender"], first["work"]) == (cell.contender, asked)


def _warm_up(
    first: Mapping[str, Any], cells: Sequence[Cell], trials: Mapping[int, list[Trial]]
) -> ContenderWarmUp:
    watched = [
        (cell, trial)
        for cell in cells
        if _is_of(first, cell) and cell.cold is None
        for trial in trials.get(cell.id, [])
        if trial.status == OK and "warm_up" in trial.conditions
    ]
    steady = [trial.conditions["warm_up"]["kind"] in STEADY for _, trial in watched]
    moves = PairedMean(np.array(list(_moves(watched))))
    enough = moves.count >= FEWEST_PROCESSES
    return ContenderWarmUp(
        contender=first["contender"],
        work=first["work"],
        load=first["load"],
        kind=first["kind"],
        requests=first["requests"],
        seconds=first["seconds"],
        watched=len(watched),
        unsteady=steady.count(False),
        moves=moves.interval().through(math.exp) if enough else None,
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
        costs = [float(np.median([part.cpu_us for part in parts])) for parts in (window, before)]
        if min(costs) > 0:
            yield float(np.log(costs[0] / costs[1]))
