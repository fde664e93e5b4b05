"""What the clients, the lab and the workers of pools did: CPU, lateness, start, shares."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from regatta.record.cell import Cell
from regatta.record.metrics import PRIMARY
from regatta.record.rate_search import CLIENT_LIMIT
from regatta.record.records import OK, TIMED, ClientPart, Trial


@dataclass(frozen=True)
class ClientFound:
    """One client over all usable trials."""

    host: str
    trials: int
    connections: int
    """The maximum."""
    cpu_share: float
    """The median share of the CPU it could use."""
    most_cpu_share: float
    bound: int
    """Trials in which it was the bottleneck."""
    late_p99_ns: int | None
    """Of its worst trial; None without open loads."""
    began_late_ns: float
    """The median."""
    clock_bound_ns: int
    """The maximum."""


@dataclass(frozen=True)
class ClientsFound:
    each: list[ClientFound] = field(default_factory=list)
    """Empty if a single client made every load."""
    skew_p99_ns: int = 0
    """p99 over trials of the time between the first and the last client's start."""


def clients_of(trials: Sequence[Trial]) -> ClientsFound:
    """From a race's successful trials, without repeated ones."""
    shared = [
        trial for trial in trials if trial.clients and trial.status == OK and not trial.superseded
    ]
    if not shared:
        return ClientsFound()
    count = max(len(trial.clients) for trial in shared)
    each = [
        _found([trial.clients[at] for trial in shared if at < len(trial.clients)])
        for at in range(count)
    ]
    skews = sorted(trial.start_skew_ns for trial in shared)
    return ClientsFound(each, skews[-(-len(skews) * 99 // 100) - 1])


def _found(parts: Sequence[ClientPart]) -> ClientFound:
    shares = [part.cpu_share for part in parts]
    return ClientFound(
        host=parts[0].host,
        trials=len(parts),
        connections=max(part.connections for part in parts),
        cpu_share=median(shares),
        most_cpu_share=max(shares),
        bound=sum(part.client_bound is not None for part in parts),
        late_p99_ns=max(
            (part.late_p99_ns for part in parts if part.late_p99_ns is not None), default=None
        ),
        began_late_ns=median(part.began_late_ns for part in parts),
        clock_bound_ns=max(part.clock_bound_ns for part in parts),
    )


ONE_THREAD = "epoll"
"""The engine with one thread, which cannot use more CPUs."""


def uses_more_cpus(cell: Cell) -> bool:
    return cell.engine != ONE_THREAD


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
