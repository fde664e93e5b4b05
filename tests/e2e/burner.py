"""Uses half a CPU under a given process name and logs its own CPU time.

    python burner.py NAME LOG    until its standard input ends, for two minutes at most

On a busy machine it uses less. Each line of LOG is a Unix time and the CPU seconds (user plus
system) used until then."""

import resource
import select
import sys
import time
from pathlib import Path

TURN_S = 0.01
LIMIT_S = 120
NOTE_EVERY_S = 0.1


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    name, log = sys.argv[1:]
    Path("/proc/self/comm").write_text(name)
    began, noted = time.monotonic(), 0.0
    with Path(log).open("w", buffering=1) as notes:
        while not select.select([sys.stdin], [], [], TURN_S)[0]:
            turn = used() + TURN_S
            while used() < turn:
                pass
            if time.monotonic() - began > LIMIT_S:
                break
            if time.monotonic() - noted >= NOTE_EVERY_S:
                noted = time.monotonic()
                notes.write(f"{time.time():.6f} {used():.6f}\n")


main()
