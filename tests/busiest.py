"""How much CPU time puts a process into the top of this host's processes."""

import contextlib
import os
from pathlib import Path

import pytest

TICK_MS = 1000 // os.sysconf("SC_CLK_TCK")
AMONG = 40
"""Lower than the 64 rows of a reply, because other processes may overtake ours meanwhile."""
MOST_MS = 5000


def enough_ms() -> int:
    """CPU time with which a process ranks among the first AMONG."""
    used = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            used.append((int(fields[11]) + int(fields[12])) * TICK_MS)
    enough = 100 + sorted([0] * AMONG + used)[-AMONG]
    if enough > MOST_MS:
        pytest.skip(f"{AMONG} processes of this machine have used {enough} ms of CPU")
    return enough
