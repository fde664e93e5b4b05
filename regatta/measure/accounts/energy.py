"""The energy of a host's CPU packages in a window, from the kernel's RAPL counters (powercap).

It covers whole packages: everything that runs on them, including the client's cores if both sides
share a host. `idle-energy` is what the idle machine takes in the same time, measured once before
the race; without it the rest is net. Memory is left out: only some machines count it. Only root can
read the counters, and virtual machines have none.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from regatta.measure.processes import read_text
from regatta.record.counters import Counter, counted

ENERGY, IDLE_ENERGY, MICROJOULES = "energy", "idle-energy", "µJ"
POWERCAP = Path("/sys/class/powercap")
IDLE_S = 1.0
NS_PER_S = 1e9

Packages = dict[Path, tuple[int, int]]
"""What each CPU package has taken so far, and where its counter wraps; both in µJ."""


def read_packages() -> tuple[Packages, int]:
    """All packages, or none if any counter cannot be read; and when, in ns."""
    found: Packages = {}
    for folder in sorted(POWERCAP.glob("intel-rapl:*")):  # AMD's have this name too
        if not (read_text(folder / "name") or "").startswith("package-"):
            continue
        taken, wraps_at = (
            read_text(folder / name) or "" for name in ("energy_uj", "max_energy_range_uj")
        )
        if not (taken.isdigit() and wraps_at.isdigit()):
            return {}, 0
        found[folder] = int(taken), int(wraps_at)
    return found, time.monotonic_ns()


def used_since(before: Packages, start_ns: int) -> tuple[int, float] | None:
    """The energy in µJ, and the time in s; None if there is no counter that can be read.

    A counter wraps after minutes at full load, so at most once within a window.
    """
    after, end_ns = read_packages()
    if not before or before.keys() != after.keys():
        return None
    total = 0
    for folder, (first, wraps_at) in before.items():
        last = after[folder][0]
        total += last - first + (wraps_at if last < first else 0)
    return total, (end_ns - start_ns) / NS_PER_S


@cache
def idle_uw() -> float | None:
    """The power of the idle machine; measured when first called, so call it before the race.

    None if there are no counters.
    """
    packages, start_ns = read_packages()
    if packages:
        time.sleep(IDLE_S)  # the measurement itself
    used = used_since(packages, start_ns)
    return None if used is None else used[0] / used[1]


@contextmanager
def metering() -> Iterator[list[Counter]]:
    """The energy of the block, filled in when it ends; empty where there are no counters."""
    found: list[Counter] = []
    packages, start_ns = read_packages()
    yield found
    if (used := used_since(packages, start_ns)) is None:
        return
    found.append(counted(ENERGY, used[0], MICROJOULES))
    if (idle := idle_uw()) is not None:
        found.append(counted(IDLE_ENERGY, idle * used[1], MICROJOULES))
