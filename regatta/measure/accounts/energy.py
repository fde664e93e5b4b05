"""The energy of a host's CPU packages in a window, from the kernel's RAPL counters (powercap).

It covers whole packages: everything that runs on them, including the client's cores if both sides
share a host. `idle-energy` is what the idle machine takes in the same time, measured once before
the race; without it the rest is net. Memory is left out: only some machines count it. Only root can
read the counters, and virtual machines have none.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from regatta.measure.processes import read_text
from regatta.record.counters import Counter, counted

ENERGY, IDLE_ENERGY, MICROJOULES = "energy", "idle-energy", "µJ"
POWERCAP = Path("/sys/class/powercap")
IDLE_S = 1.0
NS_PER_S = 1e9


@dataclass(frozen=True)
class Package:
    """The counter of one CPU package."""

    folder: Path
    wraps_at_uj: int

    def read_uj(self) -> int | None:
        text = read_text(self.folder / "energy_uj")
        return int(text) if text is not None and text.isdigit() else None


def packages() -> tuple[Package, ...]:
    """All packages, or none if any counter cannot be read."""
    found = []
    for folder in sorted(POWERCAP.glob("intel-rapl:*")):  # AMD's have this name too
        if not (read_text(folder / "name") or "").startswith("package-"):
            continue
        wraps_at = read_text(folder / "max_energy_range_uj")
        if wraps_at is None or not wraps_at.isdigit():
            return ()
        found.append(Package(folder, int(wraps_at)))
    return tuple(found) if all(package.read_uj() is not None for package in found) else ()


class Meter:
    """Reads the counters when it is made, and again when asked what was used since."""

    def __init__(self) -> None:
        self.packages = packages()
        self.before = [package.read_uj() for package in self.packages]
        self.start_ns = time.monotonic_ns()

    def used(self) -> tuple[int, float] | None:
        """The energy in µJ, and the time in s; None if there is no counter that can be read.

        A counter wraps after minutes at full load, so at most once within a window.
        """
        after, end_ns = [package.read_uj() for package in self.packages], time.monotonic_ns()
        total = 0
        for package, first, last in zip(self.packages, self.before, after, strict=True):
            if first is None or last is None:
                return None
            total += last - first + (package.wraps_at_uj if last < first else 0)
        return (total, (end_ns - self.start_ns) / NS_PER_S) if self.packages else None


@cache
def idle_uw() -> float | None:
    """The power of the idle machine; measured when first called, so call it before the race.

    None if there are no counters.
    """
    meter = Meter()
    if meter.packages:
        time.sleep(IDLE_S)  # the measurement itself
    used = meter.used()
    return None if used is None else used[0] / used[1]


@contextmanager
def metering() -> Iterator[list[Counter]]:
    """The energy of the block, filled in when it ends; empty where there are no counters."""
    meter, found = Meter(), list[Counter]()
    yield found
    if (used := meter.used()) is None:
        return
    found.append(counted(ENERGY, used[0], MICROJOULES))
    if (idle := idle_uw()) is not None:
        found.append(counted(IDLE_ENERGY, idle * used[1], MICROJOULES))
