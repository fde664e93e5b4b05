"""Sampled stacks, and the names of the activities that they are told apart by.

Stacks are as the ledger has them, folded as for a flame graph: a thread, then frames, the
outermost first. A function of the kernel ends in `_[k]`, another one has its file in brackets.
"""

import zlib
from collections.abc import Mapping

from regatta.errors import LedgerError

SEPARATOR = ";"
KERNEL = "_[k]"
IDLE = "idle"
"""In place of a thread: nothing ran, or only an interrupt."""
OTHERS = "other programs"
"""Before the thread of a process that is not the server's."""
ENDED = "[ended]"
"""In place of a thread that has no name any more."""
GENERATED = "generated code"
"""In place of a file: made by the program at run time."""
UNKNOWN = "[unknown]"
"""A function without a name."""

USER = "user code"
"""By file and function."""
SYSTEM_CALLS = "system calls"
START, END = "start of tasks", "end of tasks"
FAULTS = "page faults"
PACKETS = "packets received"
"""In softirqs, by the last protocol that they reached; those sent are in system calls."""
INTERRUPTS = "interrupts and timers"
SCHEDULING = "scheduling"
KERNEL_THREADS = "kernel threads"
ACTIVITIES = (
    *(USER, SYSTEM_CALLS, START, END, FAULTS),
    *(PACKETS, INTERRUPTS, SCHEDULING, KERNEL_THREADS),
)
"""In the order of every table and chart; without idling and other programs."""


def folded(*names: str) -> str:
    return SEPARATOR.join(name.replace(SEPARATOR, ",") for name in names)


def last_name(path: str) -> str:
    """`epoll_wait` instead of `system calls;epoll_wait`."""
    return path.rpartition(SEPARATOR)[2]


def pack_stacks(spent: Mapping[str, int]) -> bytes:
    """A line each, `STACK NS`, compressed for the ledger."""
    return zlib.compress("".join(f"{stack} {ns}\n" for stack, ns in spent.items()).encode())


def unpack_stacks(packed: bytes) -> dict[str, int]:
    try:
        lines = zlib.decompress(packed).decode().split("\n")[:-1]
        return {stack: int(ns) for stack, _, ns in (line.rpartition(" ") for line in lines)}
    except (zlib.error, ValueError) as error:
        raise LedgerError(
            f"stacks cannot be unpacked ({error}); is the ledger complete?"
        ) from error
