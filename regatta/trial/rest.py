"""When a server is at rest: only then is its account complete.

After its last answer a thread or a child still runs its end, and what runs at this moment is
charged up to a tick later. So a window opens and closes when none of the server's threads is awake
and none has run for a while. Waiting for a client cannot end: the client is silent, and only the
server's own timers could fire. The lab looks from other CPUs, at files that wake nobody.
"""

import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from regatta.machine.accounting import cpu_clock_ns, descendants, threads_of
from regatta.machine.cgroup import ControlGroup
from regatta.machine.proc import read_stat

WITHIN_S = 0.05
STILL_S = 0.0005
"""Much longer than a thread still runs after it left all lists: some 7 us."""
AWAKE = ("R", "D")
"""Running, waiting for a CPU, or waiting for something that comes by itself, as a disk."""
NS_PER_MS = 1e6


@dataclass(frozen=True)
class Rest:
    """How it was waited for."""

    found: bool
    """Whether it came."""
    waited_ns: int = 0


@dataclass(frozen=True)
class Ends:
    """At both ends of a window."""

    opening: Rest
    closing: Rest | None
    """None: nobody waited for it."""


@contextmanager
def away_from(cpus: Collection[int]) -> Iterator[None]:
    """Keeps this thread of the lab off these CPUs, if there are others."""
    if not cpus:
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, allowed - set(cpus) or allowed)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def wait_for_rest(pid: int, group: ControlGroup | None) -> Rest:
    """Waits, not for long, until no thread of the program runs."""
    started_ns = time.monotonic_ns()
    before: object = None
    while True:
        now = used(pid, group)
        # A thread found asleep may have been woken by one that was checked later.
        found = now == before and not is_awake(pid, group) and used(pid, group) == now
        waited_ns = time.monotonic_ns() - started_ns
        if found or waited_ns > WITHIN_S * 1e9:
            return Rest(found, waited_ns)
        before = now
        time.sleep(STILL_S)


def used(pid: int, group: ControlGroup | None) -> object:
    """Changes whenever any of the program's threads has run and left its CPU."""
    if group is not None:
        return group.charged_ns()
    clocks: dict[int, int] = {}
    for member in descendants(pid):
        with suppress(OSError):
            clocks[member] = cpu_clock_ns(member)
    return clocks


def is_awake(pid: int, group: ControlGroup | None) -> bool:
    """Whether any of its threads is awake."""
    for process, thread in threads(pid, group):
        with suppress(OSError, ValueError):
            if read_stat(process, thread).state in AWAKE:
                return True
    return False


def threads(pid: int, group: ControlGroup | None) -> Iterator[tuple[int, int]]:
    """The program's and all its descendants'."""
    if group is not None:
        yield from ((thread, thread) for thread in group.threads())
        return
    for member in descendants(pid):
        yield from ((member, thread) for thread in threads_of(member))


def describe(windows: Collection[Ends]) -> dict[str, object]:
    """For a trial's conditions, over its slices."""
    closed = [ends.closing for ends in windows if ends.closing is not None]
    longest_ns = max((rest.waited_ns for rest in closed), default=0)
    return {
        "rest_ms": round(longest_ns / NS_PER_MS, 3),
        "restless_before": sum(not ends.opening.found for ends in windows),
        "restless_after": sum(not rest.found for rest in closed),
    }
