"""What the clients, the lab and the workers of pools did: CPU, lateness, start, shares."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from regatta.record.cell import Cell
from regatta.record.metrics import PRIMARY
from regatta.record.rate_search import CLIENT_LIMIT
from regatta.record.records import OK, TIMED, Trial


@dataclass(frozen=True)
class SharedLoads:
    """Of a race whose loads several clients made together."""

    clients: int
    most_cpu_share: float
    """Of the CPU that it could use, by any client in any trial."""
    skew_p99_ns: int
    """p99 over trials of the time between the first and the last client's start."""


def shared_loads(trials: Sequence[Trial]) -> SharedLoads | None:
    """From its successful trials, without repeated ones; None if one client made every load."""
    shared = [
        trial
        for trial in trials
        if trial.client_shares and trial.status == OK and not trial.superseded
    ]
    if not shared:
        return None
    shares = [trial.client_shares for trial in shared]
    skews = sorted(trial.start_skew_ns for trial in shared)
    p99 = skews[-(-len(skews) * 99 // 100) - 1]
    return SharedLoads(max(map(len, shares)), max(map(max, shares)), p99)


def uses_more_cpus(cell: Cell) -> bool:
    """Whether its client has threads or processes for several CPUs."""
    return cell.engine != "epoll" or cell.load != "burst"


def comfortable_rate(cell: Cell, trials: Sequence[Trial], cpus: int) -> int | None:
    """Half the client's capacity in requests a second, rounded down to two digits."""
    assert PRIMARY.read is not None
    found = [PRIMARY.read(trial, "client") for trial in trials]
    costs = [cost for cost in found if not isinstance(cost, str) and cost > 0]
    if not costs:
        return None
    usable_cpus = min(cpus, cell.connections) if uses_more_cpus(cell) else 1
    rate = CLIENT_LIMIT * usable_cpus * 1e6 * len(costs) / sum(costs)
    digits = 10 ** max(0, math.floor(math.log10(rate)) - 1)
    return int(rate // digits * digits)


RECORDED = "lab_percent"


@dataclass(frozen=True)
class LabUse:
    """In percent of one CPU."""

    mean: float
    maximum: float
    """Of the worst trial."""
    trials: int


def lab_use(trials: Sequence[Trial]) -> LabUse | None:
    """None if no trial recorded it."""
    found = [float(trial.conditions[RECORDED]) for trial in trials if RECORDED in trial.conditions]
    return LabUse(fmean(found), max(found), len(found)) if found else None


def connections_by_rank(trials: list[Trial]) -> list[float]:
    """Connections from the busiest to the least busy worker: means over timed trials.

    Ranked within each trial first: the busiest worker differs between trials, so means by worker
    number would look even although each trial was uneven. Empty without a pool.
    """
    ranked = [
        sorted(trial.workers, reverse=True)
        for trial in trials
        if trial.kind == TIMED and len(trial.workers) > 1
    ]
    if not ranked or len({len(workers) for workers in ranked}) > 1:
        return []
    return [sum(column) / len(ranked) for column in zip(*ranked, strict=True)]
