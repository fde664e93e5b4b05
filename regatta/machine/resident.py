"""The most memory that a server had resident at once: of its largest process, by the kernel.

Not the sum of its processes: forked ones share most of their pages, which each would count. Not its
control group's peak: that needs the memory controller, which charges every allocation of the kernel
and so slows what is measured; and it is root's alone. Not getrusage's: that of a program remembers
the one before its exec, here the lab.
"""

from regatta.ledger.counters import BYTES, PEAK_MEMORY, Counter, counted, not_supported
from regatta.machine.accounting import descendants
from regatta.machine.proc import PROC, read_text

HIGH_WATER = "VmHWM:"
BYTES_PER_KIB = 1024


def peak_memory(pid: int) -> Counter:
    """Since its exec, of the process or of a living descendant, whichever had the most."""
    found = [peak for member in descendants(pid) if (peak := peak_of(member)) is not None]
    if not found:
        return not_supported(PEAK_MEMORY, BYTES)
    return counted(PEAK_MEMORY, max(found), BYTES)


def peak_of(pid: int) -> int | None:
    """In bytes; None of one that has ended, and has no memory."""
    for line in (read_text(PROC / str(pid) / "status") or "").splitlines():
        if line.startswith(HIGH_WATER):
            return int(line.split()[1]) * BYTES_PER_KIB
    return None
