"""Waits until a server is idle, as only then its CPU time is complete.

After the last answer a thread or child still has to finish, and running threads are charged up to a
tick late. So a window opens and closes only when all of the server's threads sleep and none has run
for a while. The clients are silent meanwhile, so only the server's own timers could wake it. The
lab polls from other CPUs, and reading these files does not wake the server.
"""

import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from regatta.measure.accounts.cgroup import ControlGroup
from regatta.measure.accounts.process_tree import cpu_clock_ns, descendants, threads_of
from regatta.measure.processes import read_stat

WITHIN_S = 0.05
STILL_S = 0.0005
"""Much longer than the 7 us that an exiting thread runs after it has left all lists."""
AWAKE = ("R", "D")
"""Running, waiting for a CPU, or in a short uninterruptible wait, such as for a disk."""
NS_PER_MS = 1e6


@dataclass(frozen=True)
class IdleWait:
    found: bool
    """Whether the server became idle."""
    waited_ns: int = 0


Rest = tuple[IdleWait, IdleWait | None]
"""The waits when a window opened and when it closed; None: not waited for."""


@contextmanager
def away_from(cpus: Collection[int]) -> Iterator[None]:
    """Keeps this thread off these CPUs, if there are others."""
    if not cpus:
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, allowed - set(cpus) or allowed)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def wait_until_idle(pid: int, group: ControlGroup | None) -> IdleWait:
    """Waits up to WITHIN_S until no thread of the program runs."""
    started_ns = time.monotonic_ns()
    before: object = None
    while True:
        now = used(pid, group)
        # A thread that was found asleep may have been woken by one that was checked after it.
        found = now == before and not is_awake(pid, group) and used(pid, group) == now
        waited_ns = time.monotonic_ns() - started_ns
        if found or waited_ns > WITHIN_S * 1e9:
            return IdleWait(found, waited_ns)
        before = now
        time.sleep(STILL_S)


def used(pid: int, group: ControlGroup | None) -> object:
    """A value that changes whenever a thread of the program has run and left its CPU."""
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
    """Process and thread ids of the program and all its descendants."""
    if group is not None:
        yield from ((thread, thread) for thread in group.threads())
        return
    for member in descendants(pid):
        yield from ((member, thread) for thread in threads_of(member))


def describe(rests: Collection[Rest]) -> dict[str, object]:
    """For a trial's conditions: the longest wait, and how often the server never became idle."""
    if not rests:
        return {}
    closings = [closing for _, closing in rests if closing is not None]
    longest_ns = max((closing.waited_ns for closing in closings), default=0)
    return {
        "rest_ms": round(longest_ns / NS_PER_MS, 3),
        "restless_before": sum(not opening.found for opening, _ in rests),
        "restless_after": sum(not closing.found for closing in closings),
    }
