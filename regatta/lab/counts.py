"""Reads what one run of a program used from the output of `perf stat` or of bash's `time`."""

import re
from collections.abc import Mapping
from pathlib import Path

from regatta.ledger.counters import COUNTERS, NOT_COUNTED, NOT_SUPPORTED
from regatta.review.names import ELAPSED, SYSTEM, TASK_CLOCK, USER
from regatta.review.reading.perf import read_outputs

Counts = Mapping[str, float]
"""By name; times in seconds."""
SWITCHES, FAULTS = "context_switches", "page_faults"
TIMED = re.compile(r"^(real|user|sys)\s+(\d+)m(\d+)[.,](\d+)s\s*$", re.MULTILINE)
KERNEL_ONLY = frozenset(one.claimed_as for one in COUNTERS if one.kernel_only)
NAMES = {"real": ELAPSED, "user": USER, "sys": SYSTEM}


def counts_in(path: Path) -> Counts:
    """Empty if the file holds no counts; on a hybrid CPU the sum over both kinds of core."""
    text = path.read_text(encoding="utf-8", errors="replace")
    timed = {
        NAMES[name]: 60 * int(minutes) + float(f"{seconds}.{parts}")
        for name, minutes, seconds, parts in TIMED.findall(text)
    }
    if timed:
        return timed
    found: dict[str, float] = {}
    seen: set[tuple[str, int]] = set()
    reading = read_outputs(str(path), text.splitlines())
    for record in reading.records if reading else ():
        for figure in record.figures.values():
            # The records of the two kinds of core share the same clock lines.
            known = (figure.name, figure.line) in seen
            # With the modifier u, kernel-only events always read 0.
            means_nothing = figure.user_only and figure.name in KERNEL_ONLY
            if not known and not means_nothing:
                seen.add((figure.name, figure.line))
                found[figure.name] = found.get(figure.name, 0.0) + figure.value
    return found


def why_absent(path: Path) -> str:
    """perf's words for a figure that is missing."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return NOT_SUPPORTED if f"<{NOT_SUPPORTED}>" in text else NOT_COUNTED


def cpu_s(counts: Counts) -> float | None:
    """CPU time: perf's task-clock, else user + system time."""
    if TASK_CLOCK in counts:
        return counts[TASK_CLOCK]
    if USER in counts and SYSTEM in counts:
        return counts[USER] + counts[SYSTEM]
    return None
