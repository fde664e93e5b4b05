"""How a process comes to be among the busiest: a host may have many that are busier."""

import contextlib
import os
from pathlib import Path

import pytest

TICK_MS = 1000 // os.sysconf("SC_CLK_TCK")
AMONG = 40
"""Of the 64 that can be asked for: others may rise meanwhile."""
MOST_MS = 5000


def enough_ms() -> int:
    """CPU time that makes a process one of the busiest here."""
    used = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            used.append((int(fields[11]) + int(fields[12])) * TICK_MS)
    enough = 100 + sorted([0] * AMONG + used)[-AMONG]
    if enough > MOST_MS:
        pytest.skip(f"{AMONG} processes of this machine have used {enough} ms of CPU")
    return enough
