"""The result of a trial, as it is written to the ledger."""

from dataclasses import dataclass, field
from typing import Any

from regatta.ledger.counters import CPU_TIME, Counter

OK = "ok"
FAILED = "failed"
SERVER = "server"
CLIENT = "client"
PERF = "perf"
KERNEL = "kernel"
CPUS = "cpus"


@dataclass(frozen=True)
class SideCounter:
    """A counter with its side and origin."""

    side: str
    origin: str
    counter: Counter


@dataclass
class Result:
    """The measurements of a trial, or why it failed."""

    status: str = OK
    reason: str | None = None
    client_bound: str | None = None
    """Why the client was the bottleneck, in its own words."""
    started_at: float = 0.0
    window_ns: int | None = None
    """Sum over all slices."""
    requests: int | None = None
    answered: int | None = None
    throughput_per_s: float | None = None
    server: dict[str, Any] | None = None
    client: dict[str, Any] | None = None
    conditions: dict[str, Any] = field(default_factory=dict)
    samples: bytes | None = None
    attempt: int = 1
    """Counts the attempts of this block and cell: a disturbed trial is repeated."""
    disturbed: str | None = None
    """Other programs that used the trial's CPUs beyond the limit, in words; None if none did."""
    counters: list[SideCounter] = field(default_factory=list)
    printed: dict[str, str] = field(default_factory=dict)
    """Output of perf stat for each side that was counted as a whole process."""

    def cpu_us_per_request(self) -> float | None:
        """For the progress display: the server's CPU time, by the kernel's own accounting."""
        for one in self.counters:
            found = (one.side, one.origin, one.counter.event)
            if found == (SERVER, KERNEL, CPU_TIME) and one.counter.value is not None:
                return one.counter.value / 1000 / self.answered if self.answered else None
        return None


def side_counters(side: str, origin: str, counters: list[Counter]) -> list[SideCounter]:
    return [SideCounter(side, origin, counter) for counter in counters]
