"""The sample of faults to test."""

import os
import zlib
from collections.abc import Iterable, Iterator

from tests.reliability.errors import CANNOT_FAIL, ERRORS, LEFT_OUT
from tests.reliability.injection import ALWAYS, Fault, Tally
from tests.servers import ListedDesign

EVERY = int(os.environ.get("REGATTA_FAULTS_EVERY", "16"))
"""Sample every n-th kind (call and error), with another offset by design; 1 takes hours."""
ONLY = os.environ.get("REGATTA_FAULTS_ONLY", "")
"""Only faults whose names contain this, such as "poll ENOMEM" or "accept4 EMFILE 1"."""
MOMENTS = ("1", "3", "10+10", ALWAYS)
MOST_LEAKED = "1..300"
"""A failed close that strace injects leaks the descriptor, and select(2) has 1,024."""

NOT_SURVIVABLE = {
    ("futex", ""): "called in the C library, which aborts or loses a wake-up;"
    " the errors belong to operations that strace cannot distinguish",
    ("rt_sigprocmask", ""): "cannot fail if called correctly; a mask that is not restored blocks"
    " SIGTERM for ever, also in the C library's fork and threads",
    ("set_robust_list", ""): "the C library ignores it; a robust mutex whose holder is then killed"
    " is locked for ever",
    ("io_uring_enter", "EBADR"): "the kernel has lost completions, so the state of the connections"
    " is unknown; the server reports it and exits",
}
"""Faults that no server can survive, with the reason; "": every error."""


def unknown(calls: Iterable[str]) -> set[str]:
    """Calls that are missing in errors.py."""
    return set(calls) - ERRORS.keys() - CANNOT_FAIL - LEFT_OUT.keys()


def kinds(design: ListedDesign, calls: Iterable[str], tally: Tally) -> Iterator[tuple[str, str]]:
    """The sample of survivable errors of these calls. Tells the tally how many there are."""
    every = [
        (call, error)
        for call in sorted(calls)
        for error in ERRORS.get(call, ())
        if not {(call, error), (call, "")} & NOT_SURVIVABLE.keys()
    ]
    tally.kinds = len(every)
    first = zlib.crc32(design.name.encode()) % EVERY
    return (kind for kind in every[first::EVERY])


def moments(call: str) -> tuple[str, ...]:
    return (*MOMENTS[:-1], MOST_LEAKED) if call == "close" else MOMENTS


def is_wanted(fault: Fault) -> bool:
    return ONLY in str(fault)
