"""Sampled stacks, read from what `perf script` prints."""

import re
from collections.abc import Iterator
from pathlib import Path

from regatta.record.recordings import ENDED, GENERATED, IDLE, KERNEL, OTHERS, UNKNOWN, folded

HEAD = re.compile(r"(.*?)\s+(-?\d+)\s*$")
FRAME = re.compile(r"\s+[0-9a-f]+ (.*) \(([^()]*)(?: \(deleted\))?\)$")
MADE = re.compile(r"perf-\d+\.map|\[JIT\].*|anon|memfd:.*|\[heap\]")
"""Files of code that a program made at run time. perf names it where the program says how, in
/tmp/perf-PID.map: node --perf-basic-prof, python3 -X perf, Java's -XX:+DumpPerfMapAtExit."""
FORK = re.compile(r"PERF_RECORD_FORK\((?P<child>\d+):\d+\):\((?P<parent>\d+):")
FORGOTTEN = ":-1"
"""perf's name for a task in the last steps of its end, when it has no number any more. On a side's
CPUs it is the server's."""
RESERVED = (IDLE, OTHERS)
OF_THE_KERNEL = ("[kernel.kallsyms]", "[guest.kernel.kallsyms]")
NUMBERED = re.compile(r"[/:-]")
"""What separates the name of a kernel thread from its CPU or number."""


def stacks(text: str, *servers: int) -> Iterator[str]:
    """Each sample as a folded stack (record/recordings.py); `text` has frames the innermost first.

    `servers`: process ids. Their descendants are known by the forks that perf prints in between,
    those of before too.
    """
    ours, roots = {*servers}, [""]
    frames: list[str] | None = None
    for line in [*text.split("\n"), ""]:
        if not line:
            if frames is not None:
                yield folded(*roots, *reversed(frames))
            frames = None
        elif fork := FORK.search(line):
            if int(fork["parent"]) in ours:
                ours.add(int(fork["child"]))
        elif frames is None:
            if head := HEAD.match(line):
                roots, frames = _roots(head[1].strip(), int(head[2]), ours), []
        elif frame := FRAME.match(line):
            named = _frame(frame[1], frame[2])
            if frame[1] != UNKNOWN or frames[-1:] != [named]:  # a hundred of them say no more
                frames.append(named)


def _roots(thread: str, pid: int, ours: set[int]) -> list[str]:
    if pid == 0:
        return [IDLE]
    if thread == FORGOTTEN:
        return [ENDED]
    if pid not in ours:
        return [OTHERS, NUMBERED.split(thread)[0] or UNKNOWN]
    return [f"{thread} (thread)" if thread in RESERVED else thread]


def _frame(function: str, file: str) -> str:
    if file in OF_THE_KERNEL:
        return function + KERNEL
    name = Path(file).name
    return f"{function} ({GENERATED if MADE.fullmatch(name) else name})"
