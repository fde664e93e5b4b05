"""What a server has in memory: the proportional set size of all its processes, from smaps_rollup.

A page that several processes share counts once, in parts. The kernel's own share, such as
that of sockets, is not in it (kernel_memory.py).
"""

from regatta.ledger.counters import BYTES, Counter, counted, not_supported
from regatta.machine.accounts.process_tree import descendants
from regatta.machine.proc import PROC, read_text

PROPORTIONAL = "Pss:"
BYTES_PER_KIB = 1024


def memory(pid: int, event: str) -> Counter:
    """Of the process and its living descendants."""
    found = [size for member in descendants(pid) if (size := size_of(member)) is not None]
    return counted(event, sum(found), BYTES) if found else not_supported(event, BYTES)


def size_of(pid: int) -> int | None:
    """In bytes; None if the process has ended or may not be read."""
    for line in (read_text(PROC / str(pid) / "smaps_rollup") or "").splitlines():
        if line.startswith(PROPORTIONAL):
            return int(line.split()[1]) * BYTES_PER_KIB
    return None
