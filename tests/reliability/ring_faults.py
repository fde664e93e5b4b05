"""Operations of the rings that fail, while a server on io_uring serves.

strace cannot make them fail: they are not system calls. The server under test fails them itself
(tests/conformance/uring_failing.c)."""

import contextlib
import errno
import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.reliability.errors import ERRORS
from tests.reliability.injection import Fault, Outcome
from tests.reliability.serving_faults import (
    LOADS,
    LONG_S,
    OPTIONS,
    SHORT_S,
    WORKERS,
    ServerUnderFaults,
    load,
)
from tests.reliability.state import ask_ten, at_once, wait_for_state
from tests.servers import REPOSITORY, ListedDesign, RunningServer, built, running, table

RINGS = [row for row in table() if row.name.startswith("uring") and row.missing is None]
MOMENTS = ("1", "3+3", "10+10")
"""The first, every third, every tenth operation."""
OF_TIMER = ("1", "1+1")
"""A timer that does not fail lasts as long as --idle-timeout."""
PATIENCE_MS = 10_000
UNDONE = " undone"


def and_more(call: str, more: str) -> list[str]:
    return sorted({*ERRORS[call], *more.split()})


OF_ANY = "ECANCELED ENOMEM EINTR EAGAIN"
"""What the kernel itself may say of any operation."""
RING_ERRORS = {
    "accept": and_more("accept4", OF_ANY),
    "accept undone": and_more("accept4", OF_ANY),
    "receive": and_more("recvfrom", f"{OF_ANY} ENOBUFS ECONNRESET ETIMEDOUT EPIPE EHOSTUNREACH"),
    "receive undone": and_more("recvfrom", f"{OF_ANY} ENOBUFS ECONNRESET ETIMEDOUT"),
    "send": and_more("sendto", f"{OF_ANY} ETIMEDOUT EHOSTUNREACH"),
    "send slowly": and_more("sendto", f"{OF_ANY} ETIMEDOUT EHOSTUNREACH"),
    "listen": and_more("poll", OF_ANY),
    "timer": and_more("clock_nanosleep", OF_ANY),
}
"""Errors of each operation: those of the system call in the manual, and those of the ring."""

HARMLESS = {
    "accept": RING_ERRORS["accept"],
    "listen": RING_ERRORS["listen"],
    "timer": RING_ERRORS["timer"],
    "receive": ["ECANCELED", "EINTR", "ENOBUFS"],
    "send": ["EAGAIN", "EINTR"],
    "send slowly": ["EAGAIN", "EINTR"],
}
"""Errors that cost no client anything: every request must be answered."""

BEFORE = {"send slowly": ("send", "EAGAIN"), "listen": ("accept", "ENOMEM")}
"""What must fail each time, so that the server comes to do an operation."""


ANY_CANCEL = 15
"""Stands for CANCEL in the file of faults, where its number 0 means no fault."""


SUBMISSIONS = (REPOSITORY / "src/server/uring/submissions.h").read_text()
OPERATIONS = SUBMISSIONS.partition("\nenum operation {")[2].partition("OPERATION_MASK")[0]
NUMBERS = {
    name: number or ANY_CANCEL
    for number, name in enumerate(re.findall(r"^ *([A-Z_]+),", OPERATIONS, re.MULTILINE))
}
SLOTS = 2
TESTED, HELPER = range(SLOTS)


@dataclass(frozen=True)
class RingFaults:
    """The file of faults, which the server has mapped too: `struct fault`."""

    memory: mmap.mmap

    FORMAT = struct.Struct("=8I")

    def _read(self, slot: int) -> tuple[int, ...]:
        return self.FORMAT.unpack_from(self.memory, slot * self.FORMAT.size)

    def _write(self, slot: int, *words: int) -> None:
        """The operation last: it makes the fault valid."""
        at = slot * self.FORMAT.size
        self.FORMAT.pack_into(self.memory, at, 0, *words[1:])
        struct.pack_into("=I", self.memory, at, words[0])

    def end(self, slot: int) -> None:
        struct.pack_into("=I", self.memory, slot * self.FORMAT.size, 0)
        _, number, *rest = self._read(slot)
        self._write(slot, 0, number + 1, *rest)

    def set(self, slot: int, fault: Fault) -> None:
        self.end(slot)
        name = fault.call.removesuffix(UNDONE)
        first, _, every = fault.when.partition("+")
        self._write(
            *(slot, NUMBERS[name.replace(" ", "_").upper()], self._read(slot)[1]),
            *(getattr(errno, fault.error), name != fault.call, int(first), int(every or 0), 0, 0),
        )

    def submitted(self, slot: int) -> int:
        """How many such operations there were."""
        return self._read(slot)[6]

    def failed(self, slot: int) -> int:
        """How many operations have failed."""
        return self._read(slot)[7]


@contextlib.contextmanager
def failing(
    design: ListedDesign, folder: Path, fault: Fault | None = None, workers: int = WORKERS
) -> Iterator[tuple[RunningServer, RingFaults]]:
    """A server on io_uring, and its faults: at first this one. It must exit with status 0."""
    path = folder / "ring-faults"
    path.write_bytes(bytes(SLOTS * RingFaults.FORMAT.size))
    with path.open("r+b") as file:
        faults = RingFaults(mmap.mmap(file.fileno(), 0))
    if fault is not None:
        faults.set(TESTED, fault)
    with running(
        folder,
        *("--design", design.name, *design.workers(workers), *OPTIONS),
        binary=built("tests/conformance/failing-server"),
        environment={"RING_FAULTS": str(path)},
    ) as server:
        yield server, faults


class RingUnderFaults(ServerUnderFaults):
    """One server. After a problem it may be unusable."""

    def __init__(
        self, server: RunningServer, design: ListedDesign, folder: Path, faults: RingFaults
    ) -> None:
        super().__init__(server, design, folder)
        self.faults = faults

    def endure(self, fault: Fault, replaces: bool = False) -> Outcome:
        del replaces  # it has no worker processes
        if fault.call in BEFORE:
            self.faults.set(HELPER, Fault(*BEFORE[fault.call], "1+1"))
        self.faults.set(TESTED, fault)
        unanswered = 0
        for _ in range(LOADS):
            seconds = LONG_S if fault.call == "timer" else SHORT_S
            unanswered += load(self.server, seconds, PATIENCE_MS)
            if self.faults.failed(TESTED):
                break
        injections = self.faults.failed(TESTED)
        self.faults.end(TESTED)
        self.faults.end(HELPER)
        problem = wait_for_state(self.server, lambda state: state.is_back(self.before))
        problem = problem or ask_ten(self.server, at_once(self.design, WORKERS))
        if problem is None and fault.error in HARMLESS.get(fault.call, ()) and unanswered > 0:
            problem = f"{unanswered} requests are not answered"
        return Outcome(fault, injections, problem)


@contextlib.contextmanager
def serving_on_rings(design: ListedDesign, folder: Path) -> Iterator[RingUnderFaults]:
    with failing(design, folder) as (server, faults):
        yield RingUnderFaults(server, design, folder, faults)
