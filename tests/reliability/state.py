"""The resources of a server, and whether it still serves."""

import contextlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.processes import descriptors, is_gone, threads, tree
from tests.servers import ListedDesign, RunningServer, read_reply, rows_of
from tests.waiting import PATIENCE_S

ASKED = 10
OF_SCANS = re.compile(r"/proc/\d+/")
"""Files that scans keep open; their number depends on other processes."""
GROWTH_KIB = 2048
"""Growth that is no leak: the allocator keeps some of the peak."""


@dataclass(frozen=True)
class State:
    """Sums over all its processes."""

    processes: int
    threads: int
    sockets: int
    descriptors: int
    """Without those of scans."""
    memory_kib: int
    """Anonymous memory."""

    def is_at_rest(self, before: "State") -> bool:
        """Whether no client is served any more."""
        now = (self.processes, self.threads, self.sockets)
        return now == (before.processes, before.threads, before.sockets)

    def is_back(self, before: "State", left_open: int = 0) -> bool:
        return (
            (self.processes, self.threads) == (before.processes, before.threads)
            and self.descriptors <= before.descriptors + left_open
            and self.memory_kib <= before.memory_kib + GROWTH_KIB
        )


def memory_kib(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in rollup.splitlines() if "Anonymous:" in line)


def read_state(pid: int) -> State:
    """Retries if one of its processes ends meanwhile. Zero for a server that has ended."""
    while not is_gone(pid):
        with contextlib.suppress(OSError, StopIteration):
            pids = tree(pid)
            held = [path for member in pids for path in descriptors(member).values()]
            return State(
                len(pids),
                sum(len(threads(member)) for member in pids),
                sum(path.startswith("socket:") for path in held),
                sum(not OF_SCANS.match(path) for path in held),
                sum(map(memory_kib, pids)),
            )
    return State(0, 0, 0, 0, 0)


def wait_for_state(server: RunningServer, is_so: Callable[[State], bool]) -> str | None:
    """Waits for a state. Returns the problem after a timeout; None: success."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so(state := read_state(server.process.pid)):
        if server.process.poll() is not None:
            return f"it ended with status {server.process.returncode}"
        if time.monotonic() > deadline:
            return f"it is left with {state}"
        time.sleep(0.01)
    return None


def at_once(design: ListedDesign, workers: int) -> int:
    """Number of test clients that it serves at a time."""
    return {"one": 1, "workers": workers, "all": ASKED}[design.serves]


def ask_ten(server: RunningServer, at_a_time: int) -> str | None:
    """Sends ten requests, as many at a time as it serves, so that all workers are used."""
    answered = 0
    while answered < ASKED:
        try:
            with server.connect_many(min(at_a_time, ASKED - answered)) as clients:
                for client in clients:
                    client.sendall(b"top 2\n")
                for client in clients:
                    rows_of(read_reply(client))
                    answered += 1
        except (AssertionError, OSError) as problem:
            return f"{answered} of {ASKED} are answered: {problem!r:.200}"
    return None
