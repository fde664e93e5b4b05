"""What a test asks of the kernel about a server's processes, and does to them."""

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
"""In the environment of what a test starts: whatever descends from that has it too."""


def everybody() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def marked(mark: object) -> list[int]:
    """The living processes, but this one, whose environment has this mark."""
    found = []
    for pid in everybody():
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
    return [pid for pid in found if pid != os.getpid() and not is_gone(pid)]


def network_namespaces(of: list[int] | None = None) -> set[str]:
    """Those of these processes, or of all. The kernel soon reuses the number of a gone one: whether
    one has gone is asked of those that were inside."""
    found = set()
    for pid in everybody() if of is None else of:
        with contextlib.suppress(OSError):
            found.add(str(Path(f"/proc/{pid}/ns/net").readlink()))
    return found


def inside(networks: set[str]) -> list[int]:
    """The processes whose network is one of these."""
    return [pid for pid in everybody() if network_namespaces([pid]) & networks]


def commands(pids: list[int]) -> list[str]:
    """Their command lines; of those that ended meanwhile none."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace"))
    return found


def threads(pid: int) -> list[int]:
    """Of a process; none of one that ended meanwhile."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return []


def children(pid: int) -> list[int]:
    """The living child processes of all its threads."""
    found = []
    for task in threads(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            listed = Path(f"/proc/{pid}/task/{task}/children").read_text()
            found += [int(child) for child in listed.split()]
    return [child for child in found if not is_gone(child)]


def tree(pid: int) -> list[int]:
    """The process, its children, theirs, and so on."""
    return [pid, *(below for child in children(pid) for below in tree(child))]


@contextlib.contextmanager
def sleepers(count: int) -> Iterator[list[int]]:
    """So many processes that do nothing: a fresh container may hold hardly any others."""
    started = [subprocess.Popen(["sleep", "600"]) for _ in range(count)]
    try:
        yield [sleeper.pid for sleeper in started]
    finally:
        for sleeper in started:
            sleeper.kill()
        for sleeper in started:
            sleeper.wait()


def state(pid: int) -> str | None:
    """As in proc(5): "S" asleep, "Z" ended, though nobody has waited for it; None: no such one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_gone(pid: int) -> bool:
    return state(pid) in (None, "Z", "X")


def tasks(pid: int) -> list[int]:
    """The threads of the process and of those below it."""
    return [task for one in tree(pid) for task in threads(one)]


def wait_until_asleep(pid: int) -> None:
    """Until nothing of it runs: by then it has done all that it was given reason to do."""
    wait_until(lambda: all(state(task) == "S" for task in tasks(pid)), "it is never at rest")


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """It leads a group of its own: none of that runs meanwhile, and none has yet to be stopped."""
    os.killpg(pid, signal.SIGSTOP)
    wait_until(lambda: all(state(task) == "T" for task in tasks(pid)), "it runs on")
    try:
        yield
    finally:
        os.killpg(pid, signal.SIGCONT)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, those below it, and those it has waited for."""
    ticks = 0
    for one in tree(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_kib(pid: int) -> int:
    """Of a process and those below it; a page that several of them share counts once."""
    kib = 0
    for one in tree(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
            kib += sum(map(int, re.findall(r"^Pss: +(\d+) kB$", rollup, re.MULTILINE)))
    return kib


def descriptors(pid: int) -> dict[int, str]:
    """What its open descriptors lead to."""
    found = {}
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[int(entry.name)] = str(entry.readlink())
    return found


@contextlib.contextmanager
def descriptor_limits(limits: dict[int, int]) -> Iterator[None]:
    """No new descriptor of these processes may have this number or a higher one."""
    before = {pid: resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in limits}
    for pid, limit in limits.items():
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, before[pid][1]))
    try:
        yield
    finally:
        for pid, limit in before.items():
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
