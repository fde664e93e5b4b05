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
from regatta.record.counters import BYTES, PEAK_MEMORY, Counter, counted, not_supported

BYTES_PER_KIB = 1024


def memory(pid: int, event: str) -> Counter:
    """Of the process and its living descendants."""
    found = of_each(pid, "smaps_rollup", "Pss:")
    return counted(event, sum(found), BYTES) if found else not_supported(event, BYTES)


def peak_memory(pid: int) -> Counter:
    """The highest peak since exec among the process and its living descendants."""
    found = of_each(pid, "status", "VmHWM:")
    if not found:
        return not_supported(PEAK_MEMORY, BYTES)
    return counted(PEAK_MEMORY, max(found), BYTES)


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


def kernel_memory(event: str, *groups: ControlGroup | None) -> Counter:
    """Of the first of a side's groups that tells it, as this counter."""
    for group in groups:
        if group is not None and (size := size_of(group.path)) is not None:
            return counted(event, size, BYTES)
    return not_supported(event, BYTES)


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
