"""Uses half a CPU under a name of its own, and writes down how much that was by its own account.

    python burner.py NAME LOG    until its standard input ends

Each line of LOG is a moment (Unix time) and the CPU seconds, user and system, used until then."""

from __future__ import annotations

import resource
import select
import sys
import time
from pathlib import Path

SHARE = 0.5
PERIOD_S = 0.02
NOTE_EVERY_S = 0.1


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    name, log = sys.argv[1:]
    Path("/proc/self/comm").write_text(name)
    began, before, noted = time.monotonic(), used(), 0.0
    with Path(log).open("w", buffering=1) as notes:
        while not select.select([sys.stdin], [], [], PERIOD_S)[0]:
            while used() - before < SHARE * (time.monotonic() - began):
                pass
            if time.monotonic() - noted >= NOTE_EVERY_S:
                noted = time.monotonic()
                notes.write(f"{time.time():.6f} {used():.6f}\n")


main()
