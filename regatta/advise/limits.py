"""Known limits of designs. A figure from one side of a limit does not apply on the other side.

The limits are the connections that a design can watch, the clients that its workers can serve, the
CPU time of the server, and its memory.
"""

from dataclasses import dataclass

from regatta.advise.evidence import MeasuredDesign, MeasuredGroup
from regatta.advise.situation import Situation
from regatta.ledger.cell import Cell

POOLS_THAT_HOLD = ("prefork", "prethread")
"""Each worker serves one client until it disconnects, even if it is idle."""
POOL_WORKERS = 16
"""The default number."""
WATCHED_BY_SELECT = 1000
"""FD_SETSIZE minus two dozen descriptors for the server itself."""
US_PER_S = 1e6
BYTES_PER_MIB = 2**20


@dataclass(frozen=True)
class DesignLimit:
    clients: int
    why: str


def crossed(situation: Situation, one: MeasuredDesign, group: MeasuredGroup) -> str:
    """The limit between the measurement and the situation; empty if there is none."""
    return (
        _of_clients(situation, one.cell)
        or _of_rate(situation, one, group)
        or _of_memory(situation, one)
    )


def _of_clients(situation: Situation, cell: Cell) -> str:
    limit = _limit(cell)
    measured = cell.connections + cell.idle
    if limit is None or (measured <= limit.clients) == (situation.connections <= limit.clients):
        return ""
    return f"{limit.why}, and was measured with {measured:,}, not {situation.connections:,}"


def _limit(cell: Cell) -> DesignLimit | None:
    name = cell.contender
    if name == "iterative":
        return DesignLimit(1, "it serves one client at a time")
    if name == "select":
        return DesignLimit(
            WATCHED_BY_SELECT, f"it can watch about {WATCHED_BY_SELECT:,} connections"
        )
    if name.startswith(POOLS_THAT_HOLD):
        workers = cell.workers or POOL_WORKERS
        return DesignLimit(workers, f"{workers:,} workers serve as many clients at a time")
    return None


def _of_rate(situation: Situation, one: MeasuredDesign, group: MeasuredGroup) -> str:
    """Why a server would be saturated: the rate that it holds, or its CPU per request."""
    rate, offered = situation.rate, one.cell.rate
    if rate is None or offered is None or rate <= offered:
        return ""
    if one.holds is not None:
        return f"it holds {one.holds:,.0f} requests/s" if rate > one.holds else ""
    cpus = situation.cpus or group.server_cpus
    each_us = one.cpu.value if one.cpu.low is None else one.cpu.low
    if cpus is None or each_us is None or (needed := rate * each_us / US_PER_S) <= cpus:
        return ""
    return f"{rate:,} requests/s would need {needed:.1f} of {cpus} CPUs at its CPU per request"


def _of_memory(situation: Situation, one: MeasuredDesign) -> str:
    """Why a server would not fit. With more connections it needs more, so figures of more
    connections than the situation has exclude nothing."""
    measured = one.cell.connections + one.cell.idle
    if situation.memory_bytes is None or measured > situation.connections:
        return ""
    least = sum(part.low or part.value or 0.0 for part in (one.memory, one.kernel))
    there = situation.memory_bytes / BYTES_PER_MIB
    if least <= there:
        return ""
    return f"with {measured:,} connections it held {least:,.1f} MiB, and there are {there:,.1f}"
