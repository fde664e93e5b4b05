"""/proc, read without any code of ours, as the reference."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from tests.processes import all_pids

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")
KERNEL_THREAD, TASK_NAME_BYTES = 0x200000, 15  # a flag in stat, and the length of a task's name


@dataclass(frozen=True)
class ProcessTimes:
    """A process according to /proc, with times truncated to clock ticks, or to a source."""

    pid: int
    name: bytes
    user_ns: int
    system_ns: int
    started_ns: int

    @property
    def total_ns(self) -> int:
        return self.user_ns + self.system_ns


def read_process(pid: int) -> ProcessTimes | None:
    """None: no such process. The name is from `comm`, which needs no parsing of parentheses."""
    try:
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        name = (PROC / str(pid) / "comm").read_bytes().removesuffix(b"\n")
    except (FileNotFoundError, ProcessLookupError):
        return None
    if int(fields[6]) & KERNEL_THREAD:  # /proc appends more to their name
        name = name[:TASK_NAME_BYTES]
    user, system, started = (int(fields[at]) * TICK_NS for at in (11, 12, 19))
    return ProcessTimes(pid, name, user, system, started)


def read_all() -> dict[int, ProcessTimes]:
    """All processes by pid, without those that end meanwhile."""
    found = {}
    for pid in all_pids():
        with contextlib.suppress(PermissionError):
            seen = read_process(pid)
            if seen is not None:
                found[pid] = seen
    return found


def times_ns(*fields: int) -> int:
    """Of all CPUs since boot, as the first line of /proc/stat has them."""
    times = (PROC / "stat").read_text().split("\n", 1)[0].split()
    return sum(int(times[at]) for at in fields) * TICK_NS


def busy_ns() -> int:
    """User, nice, system and both kinds of interrupts: sampled by the clock tick."""
    return times_ns(1, 2, 3, 6, 7)


def idle_ns() -> int:
    """Idle or waiting for a disk: measured where an idle CPU has no tick, else sampled."""
    return times_ns(4, 5)
