"""A user's situation, and its distance to measured cells.

Near means within a factor of 2 in each given quantity: active connections, idle connections, rate,
time of the work, CPUs of the server. Figures are not extrapolated beyond that.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from regatta.errors import UsageError
from regatta.ledger.cell import WINDOW, Cell
from regatta.study.limits import (
    MAX_CONNECTIONS,
    MAX_CPU,
    MAX_RATE_PER_S,
    US_PER_UNIT,
    WORK_NEEDED,
    is_work,
)

FACTOR = 2.0
SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class Situation:
    connections: int
    """All connections, including idle ones."""
    idle_percent: float
    rate: int | None
    """Requests/s over all connections; None for a closed load."""
    work: str
    cpus: int | None
    """For the server; None for any number."""
    memory_bytes: int | None

    @property
    def idle(self) -> int:
        """The number of idle connections; at least one connection is active."""
        return min(round(self.connections * self.idle_percent / 100), self.connections - 1)

    @property
    def busy(self) -> int:
        return self.connections - self.idle

    def words(self) -> str:
        parts = [_count(self.connections, "connection")]
        if self.idle:
            parts.append(f"{self.idle:,} of them idle")
        if self.rate is not None:
            parts.append(f"{self.rate:,} requests/s")
        parts.append(f"work {self.work}")
        if self.cpus is not None:
            parts.append(_count(self.cpus, "CPU"))
        if self.memory_bytes is not None:
            parts.append(f"{self.memory_bytes / 2**20:,.0f} MiB of memory")
        return ", ".join(parts)


def make_situation(  # noqa: PLR0913, PLR0917  (one parameter an option)
    connections: int,
    idle: float,
    rate: int | None,
    work: str,
    cpus: int | None,
    memory: str | None,
) -> Situation:
    """Checks the options; UsageError says which values are allowed."""
    _within("--connections", connections, 1, MAX_CONNECTIONS)
    _within("--idle", idle, 0, 100)
    _within("--rate", rate, 1, MAX_RATE_PER_S)
    _within("--cpus", cpus, 1, MAX_CPU)
    if not is_work(work) or _work_us(work) is None:
        raise UsageError(f"--work is {work}; it must be {WORK_NEEDED}")
    return Situation(connections, idle, rate, work, cpus, _bytes(memory))


def _within(option: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        raise UsageError(f"{option} is {value:g}; it must be a number from {low:g} to {high:g}")


def _bytes(text: str | None) -> int | None:
    if text is None:
        return None
    match = SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * BYTES[match[2].upper()]) if match else 0
    if size < 1:
        raise UsageError(f"--memory is {text}; write a size as 512M or 2G")
    return size


def distance(situation: Situation, cell: Cell, server_cpus: int | None) -> float | None:
    """0 for the exact situation, plus 1 for each quantity off by a factor of 2; None if far."""
    if cell.slow or cell.backlog is not None or cell.scope != WINDOW:
        return None
    if (situation.rate is None) != (cell.rate is None):
        return None
    parts = [
        _distance(situation.busy, cell.connections),
        _distance(situation.idle, cell.idle),
        _distance(situation.rate or 0, cell.rate or 0),
        _work_distance(situation.work, cell.work),
        0.0 if situation.cpus is None else _distance(situation.cpus, server_cpus or 0),
    ]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _distance(wanted: float, measured: float) -> float | None:
    """The ratio in factors of 2; None if it is larger or only one value is 0."""
    if wanted == measured:
        return 0.0
    if min(wanted, measured) <= 0:
        return None
    factors = abs(math.log(wanted / measured)) / math.log(FACTOR)
    return factors if factors <= 1 + 1e-9 else None


def _work_distance(wanted: str, measured: str) -> float | None:
    kinds = [work.partition("=")[0] for work in (wanted, measured)]
    times = [_work_us(work) for work in (wanted, measured)]
    if kinds[0] != kinds[1] or times[0] is None or times[1] is None:
        return None
    return _distance(times[0], times[1])


def _work_us(work: str) -> int | None:
    """The time in the name of a work; 0 if it has none, None if it is malformed."""
    _, given, text = work.partition("=")
    if not given:
        return 0
    match = re.fullmatch(r"(\d{1,8})(us|ms|s)", text)
    return int(match[1]) * US_PER_UNIT[match[2]] if match else None


def why_far(situation: Situation) -> list[tuple[str, Callable[[Cell], object]]]:
    """The quantities to list in the line that says what was raced."""
    found: list[tuple[str, Callable[[Cell], object]]] = [
        ("connections", lambda cell: cell.connections),
        ("work", lambda cell: cell.work),
    ]
    if situation.idle:
        found.append(("idle", lambda cell: cell.idle))
    if situation.rate is not None:
        found.append(("rate", lambda cell: cell.rate))
    return found


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
