"""Clients that shared the loads of a race: CPU use, client-bound trials, lateness, start skew."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from regatta.ledger.records import ClientPart, Trial
from regatta.ledger.result import OK


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
    shared = [one for one in trials if one.clients and one.status == OK and not one.superseded]
    if not shared:
        return ClientsFound()
    count = max(len(one.clients) for one in shared)
    each = [
        _found([one.clients[at] for one in shared if at < len(one.clients)]) for at in range(count)
    ]
    skews = sorted(one.start_skew_ns for one in shared)
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
