"""What sampled and traced trials keep in the ledger: stacks, and where requests' time went.

Stacks are folded as for a flame graph: a thread, then frames, the outermost first. A function of
the kernel ends in `_[k]`, another one has its file in brackets. All times are in ns.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

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


ON_THE_WAY, QUEUED = "on the way", "in a queue"
RUNNABLE, RUNNING, BLOCKED = "runnable", "running", "blocked"
STAGES = (ON_THE_WAY, QUEUED, RUNNABLE, RUNNING, BLOCKED)
"""In the order of every table and chart.

On the way: from the client's call that sends it, or that connects for it, until the server's
socket has it, and from the answer's arrival at the client's socket, or what left last, until the
client has it. In a queue: in the listen or the socket's queue, or read but behind other requests.
Then it has its task to itself, which is runnable (it waits for a CPU), running, or blocked: by a
lock, a disk, another task.
"""
Span = tuple[str, int, int]
"""A stage or a task's state, its start since that of the request, and its length."""


@dataclass(frozen=True)
class Slow:
    """One of the slowest requests."""

    stages: Sequence[Span]
    """In order, without gaps."""
    tasks: dict[str, Sequence[Span]]
    """What ran meanwhile on the CPUs of both sides, by `NAME TID`."""
    serving: Sequence[str]
    """The tasks that read or answered it."""

    @property
    def took_ns(self) -> int:
        return sum(length for _, _, length in self.stages)


@dataclass(frozen=True)
class Requests:
    """Of a traced trial."""

    count: int
    spent: Sequence[Sequence[int]]
    """Of each request the time of each of STAGES; a random sample of a long trial."""
    slowest: Sequence[Slow]
    """The slowest first."""


def pack_requests(requests: Requests) -> bytes:
    return zlib.compress(json.dumps(asdict(requests), separators=(",", ":")).encode())


def unpack_requests(packed: bytes) -> Requests:
    try:
        found = json.loads(zlib.decompress(packed))
        return Requests(found["count"], found["spent"], [Slow(**slow) for slow in found["slowest"]])
    except (zlib.error, ValueError, LookupError, TypeError) as error:
        raise LedgerError(
            f"requests cannot be unpacked ({error}); is the ledger complete?"
        ) from error
