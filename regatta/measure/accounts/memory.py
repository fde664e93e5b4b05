"""What a server has in memory, now and at its peak; and what the kernel holds for it: sockets and
their buffers, stacks, page tables, descriptors.

Now: the proportional set size of all its processes: a page that several share counts once, in
parts. The peak: that of its largest process. A sum over processes would count shared pages several
times; a control group's peak needs root and the memory controller, which charges every kernel
allocation and so slows the server; getrusage's maximum survives exec, so it would include the
lab's.

The kernel's: the memory controller of control groups charges it to the group of the process that
asked for it. Version 2 tells it in `memory.stat` of the side's own group, if the controller is on
there; version 1 has a hierarchy of its own, in which the side gets a group. A socket that a client
opened is charged to the client, so only the server's end is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from regatta.measure.accounts.cgroup import (
    ControlGroup,
    Home,
    find_current_group,
    find_mount,
    sweep,
)
from regatta.measure.accounts.process_tree import descendants
from regatta.measure.processes import PROC, read_text
from regatta.record.counters import (
    BYTES,
    KERNEL_MEMORY,
    MEMORY,
    MEMORY_AT_REST,
    PEAK_MEMORY,
    Counter,
    counted,
    not_supported,
)

BYTES_PER_KIB = 1024


Groups = Sequence[ControlGroup | None]


def now(pid: int, _: Groups) -> int | None:
    """Of the process and its living descendants."""
    found = of_each(pid, "smaps_rollup", "Pss:")
    return sum(found) if found else None


def peak(pid: int, _: Groups) -> int | None:
    """The highest since exec among the process and its living descendants."""
    return max(of_each(pid, "status", "VmHWM:"), default=None)


def of_kernel(_: int, groups: Groups) -> int | None:
    """Of the first of a side's groups that tells it."""
    sizes = (size_of(group.path) for group in groups if group is not None)
    return next((size for size in sizes if size is not None), None)


READERS = {MEMORY: now, MEMORY_AT_REST: now, PEAK_MEMORY: peak, KERNEL_MEMORY: of_kernel}


def held(event: str, pid: int, groups: Groups = ()) -> Counter:
    """In bytes, as the counter of this event; `groups`: those of the side, if any."""
    size = READERS[event](pid, groups)
    return not_supported(event, BYTES) if size is None else counted(event, size, BYTES)


def of_each(pid: int, file: str, name: str) -> list[int]:
    """Bytes of each process that lives and may be read."""
    lines = [
        line
        for member in descendants(pid)
        for line in (read_text(PROC / str(member) / file) or "").splitlines()
    ]
    return [int(line.split()[1]) * BYTES_PER_KIB for line in lines if line.startswith(name)]


VERSION_1 = "memory"
"""The name of the controller's hierarchy."""
VERSION_2_PARTS = ("kernel", "sock")
VERSION_1_FILES = ("memory.kmem.usage_in_bytes", "memory.kmem.tcp.usage_in_bytes")
TCP_LIMIT, UNLIMITED = "memory.kmem.tcp.limit_in_bytes", "-1"


def make_kernel_group() -> ControlGroup | None:
    """A group in the hierarchy of version 1; None if there is none or it is not permitted."""
    with suppress(OSError, LookupError):
        home = Home(find_mount(VERSION_1), find_current_group(controller=VERSION_1))
        sweep(home)
        group = home.make()
        # Buffers of TCP are counted only in a group that had a limit for them at some time.
        with suppress(OSError):
            (group.path / TCP_LIMIT).write_text(UNLIMITED)
        return group
    return None


def size_of(group: Path) -> int | None:
    """In bytes; None if the group does not tell it."""
    try:
        if (group / VERSION_1_FILES[0]).exists():
            return sum(int((group / name).read_text()) for name in VERSION_1_FILES)
        lines = (group / "memory.stat").read_text().splitlines()
        found = {name: int(size) for name, size in map(str.split, lines)}
        return sum(found[part] for part in VERSION_2_PARTS)
    except (OSError, ValueError, KeyError):
        return None
