"""Simulated queues: what an open load's client records, and the true latencies."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ANSWERED, UNSTARTED = 0, 6


@dataclass(frozen=True)
class LoadWindow:
    """A window of an open load, in ns from its start."""

    records: list[tuple[int, int, int]]
    """Due time, end time and outcome of each request."""
    truth: list[int]
    """True latency of each request if the load had continued."""

    @property
    def unstarted(self) -> int:
        return sum(outcome == UNSTARTED for *_, outcome in self.records)

    def samples(self) -> bytes:
        """Packed as in a ledger."""
        head = struct.pack("<8sIIQq", b"RGSAMPL1", 32, 0, len(self.records), 0)
        body = b"".join(
            struct.pack("<qqqII", due, 0 if outcome else end, end, 0, outcome)
            for due, end, outcome in self.records
        )
        return zlib.compress(head + body)


def queue(
    due: Sequence[int], services: Sequence[int], window: int, connections: int, servers: int
) -> LoadWindow:
    """Requests take the first free connection, in order; each server serves one at a time."""
    free = [0] * connections
    idle = [0] * servers
    records, truth = [], []
    for at, service in zip(due, services, strict=True):
        start = max(at, min(free))
        begin = max(start, min(idle))
        end = begin + service
        idle[idle.index(min(idle))] = end
        free[free.index(min(free))] = end
        truth.append(end - at)
        records.append((at, end, ANSWERED) if start < window else (at, window, UNSTARTED))
    return LoadWindow(records, truth)


def overloaded(times: float, *, requests: int = 300, poisson_seed: int | None = None) -> LoadWindow:
    """D/D/1, or M/D/1 with a seed, at `times` its capacity; a window of one second."""
    window = 10**9
    gaps = np.full(requests, window / requests)
    if poisson_seed is not None:
        gaps = np.random.default_rng(poisson_seed).exponential(window / requests, requests)
    due = [int(at) for at in np.cumsum(gaps) - gaps[0] if at < window]
    return queue(due, [int(times * window / requests)] * len(due), window, 4, 1)
