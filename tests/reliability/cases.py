"""Which faults are tried, of all that there could be."""

import os
import zlib
from collections.abc import Iterable, Iterator

from tests.reliability.errors import CANNOT_FAIL, ERRORS, LEFT_OUT
from tests.reliability.injection import ALWAYS, Fault
from tests.servers import ListedDesign

EVERY = int(os.environ.get("REGATTA_FAULTS_EVERY", "16"))
"""The sample: one in so many kinds (a call and an error), others of each design; 1 takes hours."""
ONLY = os.environ.get("REGATTA_FAULTS_ONLY", "")
"""Only faults whose names hold this, such as "poll ENOMEM" or "accept4 EMFILE 1": to repeat one."""
MOMENTS = ("1", "3", "10+10", ALWAYS)

BY_NATURE = {
    ("futex", ""): "made inside the C library, which ends the program or loses a wake-up;"
    " the errors of the manual belong to operations that strace cannot tell apart",
    ("rt_sigprocmask", ""): "of a correct call the kernel has no reason to; a mask that is not put"
    " back keeps SIGTERM away for ever, in the C library's fork and threads too",
    ("io_uring_enter", "EBADR"): "the kernel has lost completions: nobody knows what became of"
    " the connections; the server ends and says so",
}
"""What is not tried, because no server survives it, and why; "": each error."""


def is_by_nature(call: str, error: str) -> bool:
    return (call, error) in BY_NATURE or (call, "") in BY_NATURE


def unknown(calls: Iterable[str]) -> set[str]:
    """Calls that no table here has."""
    return set(calls) - ERRORS.keys() - CANNOT_FAIL - LEFT_OUT.keys()


def kinds(design: ListedDesign, calls: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The sample of what these calls may fail with, but for what cannot be survived."""
    every = [
        (call, error)
        for call in sorted(calls)
        for error in ERRORS.get(call, ())
        if not is_by_nature(call, error)
    ]
    first = zlib.crc32(design.name.encode()) % EVERY
    return (kind for kind in every[first::EVERY])


def is_wanted(fault: Fault) -> bool:
    return ONLY in str(fault)
