"""Inspect and control processes: /proc, signals, limits."""

import contextlib
import os
import re
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.waiting import wait_until

MARK = "REGATTA_TEST_MARK"
"""Environment variable that marks a process and all its descendants."""


def all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def marked(mark: object) -> list[int]:
    """Live processes, except this one, with this mark in their environment."""
    found = []
    for pid in all_pids():
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
    return [pid for pid in found if pid != os.getpid() and not is_gone(pid)]


def network_namespaces(of: list[int] | None = None) -> set[str]:
    """Network namespaces of these processes, by default of all. The kernel soon reuses the inode of
    a removed one: to see whether it is gone, look at the processes that were inside."""
    found = set()
    for pid in all_pids() if of is None else of:
        with contextlib.suppress(OSError):
            found.add(str(Path(f"/proc/{pid}/ns/net").readlink()))
    return found


def pids_inside(networks: set[str]) -> list[int]:
    """Processes in one of these network namespaces."""
    return [pid for pid in all_pids() if network_namespaces([pid]) & networks]


def commands(pids: list[int]) -> list[str]:
    """Command lines, without those of processes that have ended meanwhile."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace"))
    return found


def threads(pid: int) -> list[int]:
    """Thread ids of a process; none if it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return []


def children(pid: int) -> list[int]:
    """Live children of all threads of a process."""
    found = []
    for task in threads(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            listed = Path(f"/proc/{pid}/task/{task}/children").read_text()
            found += [int(child) for child in listed.split()]
    return [child for child in found if not is_gone(child)]


def tree(pid: int) -> list[int]:
    """The process and all its descendants."""
    return [pid, *(below for child in children(pid) for below in tree(child))]


@contextlib.contextmanager
def sleepers(count: int) -> Iterator[list[int]]:
    """`count` sleeping processes: a fresh container may have hardly any others."""
    started = [subprocess.Popen(["sleep", "600"]) for _ in range(count)]
    try:
        yield [sleeper.pid for sleeper in started]
    finally:
        for sleeper in started:
            sleeper.kill()
        for sleeper in started:
            sleeper.wait()


def state(pid: int) -> str | None:
    """State letter of proc(5), such as "S" sleeping or "Z" zombie; None: no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_gone(pid: int) -> bool:
    return state(pid) in (None, "Z", "X")


def kill_all(pids: list[int]) -> None:
    """Waits for their end: until then they may still serve, or lose, a client."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: all(map(is_gone, pids)), "SIGKILL did not end all of them")


def tasks(pid: int) -> list[int]:
    """Threads of the process and of all its descendants."""
    return [task for member in tree(pid) for task in threads(member)]


def wait_until_asleep(pid: int) -> None:
    """Until all its threads sleep: it has then handled everything that was sent to it."""
    wait_until(lambda: all(state(task) == "S" for task in tasks(pid)), "it never sleeps")


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Stops the process group that `pid` leads, and waits until every thread has stopped."""
    os.killpg(pid, signal.SIGSTOP)
    wait_until(lambda: all(state(task) == "T" for task in tasks(pid)), "it is not stopped")
    try:
        yield
    finally:
        os.killpg(pid, signal.SIGCONT)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, its descendants, and the children it has reaped."""
    ticks = 0
    for member in tree(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_kib(pid: int) -> int:
    """Proportional set size of a process and its descendants: shared pages count once."""
    kib = 0
    for member in tree(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            rollup = Path(f"/proc/{member}/smaps_rollup").read_text()
            kib += sum(map(int, re.findall(r"^Pss: +(\d+) kB$", rollup, re.MULTILINE)))
    return kib


def descriptors(pid: int) -> dict[int, str]:
    """Targets of its open descriptors."""
    found = {}
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[int(entry.name)] = str(entry.readlink())
    return found


@contextlib.contextmanager
def descriptor_limits(limits: dict[int, int]) -> Iterator[None]:
    """Sets RLIMIT_NOFILE by pid, and restores it."""
    before = {pid: resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in limits}
    for pid, limit in limits.items():
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, before[pid][1]))
    try:
        yield
    finally:
        for pid, limit in before.items():
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
