"""What a server has in memory, now and at its peak. The kernel's share, such as that of sockets, is
not in it (kernel_memory.py).

Now: the proportional set size of all its processes: a page that several share counts once, in
parts. The peak: that of its largest process. A sum over processes would count shared pages several
times; a control group's peak needs root and the memory controller, which charges every kernel
allocation and so slows the server; getrusage's maximum survives exec, so it would include the
lab's.
"""

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
