"""A server's peak resident memory: that of its largest process, from the kernel (VmHWM).

Why not another measure: a sum over processes would count pages that forked processes share several
times. A control group's peak needs root and the memory controller, which charges every kernel
allocation and so slows the server. getrusage's maximum survives exec: it would include the lab's.
"""

from regatta.ledger.counters import BYTES, PEAK_MEMORY, Counter, counted, not_supported
from regatta.machine.accounts.process_tree import descendants
from regatta.machine.proc import PROC, read_text

HIGH_WATER = "VmHWM:"
BYTES_PER_KIB = 1024


def peak_memory(pid: int) -> Counter:
    """The highest peak since exec among the process and its living descendants."""
    found = [peak for member in descendants(pid) if (peak := peak_of(member)) is not None]
    if not found:
        return not_supported(PEAK_MEMORY, BYTES)
    return counted(PEAK_MEMORY, max(found), BYTES)


def peak_of(pid: int) -> int | None:
    """In bytes; None if the process has ended."""
    for line in (read_text(PROC / str(pid) / "status") or "").splitlines():
        if line.startswith(HIGH_WATER):
            return int(line.split()[1]) * BYTES_PER_KIB
    return None
