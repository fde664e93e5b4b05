"""Faults while a server serves."""

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tests.commands import run
from tests.processes import children, tree, wait_until_asleep
from tests.reliability.injection import NONE, Fault, Outcome, Tally, Trace, attached
from tests.reliability.state import ask_ten, at_once, read_state, wait_for_state
from tests.servers import ListedDesign, RunningServer, program, running

CLIENTS = 40
WORKERS = 4
SHORT_S, LONG_S = 0.15, 1.0
LOADS = 3
"""Loads to try until a single fault is reached."""
OPTIONS = ("--work", "snapshot", "--max-age", "50", "--idle-timeout", "2000")
"""Occasional scans, and a short idle timeout."""
NOT_DONE = {"close"}
"""A real close closes the descriptor even if it fails; strace skips the call."""


def load(server: RunningServer, seconds: float, timeout_ms: int = 1000) -> int:
    """Closed load with a new connection after two replies. How many requests are not answered."""
    done = run(
        program("regatta-client"),
        *("--json", "--connections", CLIENTS, "--load", "closed", "--per-connection", 2),
        *("--duration", seconds, "--timeout", timeout_ms, server.address),
    )
    result = json.loads(done.stdout)
    return int(result["requests"] - result["answered"])


class ServerUnderFaults:
    """One server. After a problem it may be unusable."""

    def __init__(self, server: RunningServer, design: ListedDesign, folder: Path) -> None:
        self.server = server
        self.design = design
        self.folder = folder
        wait_until_asleep(server.process.pid)  # children close what they inherited
        at_first = read_state(server.process.pid)
        load(server, SHORT_S)
        problem = wait_for_state(server, lambda state: state.is_at_rest(at_first))
        assert problem is None, f"{problem}, not {at_first}"
        self.before = read_state(server.process.pid)

    def attached(self, fault: Fault) -> contextlib.AbstractContextManager[Trace]:
        return attached(tree(self.server.process.pid), self.folder, fault)

    def kill_one(self) -> None:
        """Kills a worker process, so that another is started."""
        for pid in children(self.server.process.pid)[:1]:
            os.kill(pid, signal.SIGKILL)

    def calls(self, seconds: float = LONG_S, *, replaces: bool = False) -> set[str]:
        """Its calls under load; with `replaces`, after a worker was killed."""
        with self.attached(NONE) as trace:
            if replaces:
                self.kill_one()
            load(self.server, seconds)
        return trace.calls

    def endure(self, fault: Fault, replaces: bool) -> Outcome:
        with self.attached(fault) as trace:
            for _ in range(LOADS if fault.when else 1):
                if replaces:
                    self.kill_one()
                load(self.server, SHORT_S if fault.when else LONG_S)
                if trace.injections:
                    break
        left_open = trace.injections if fault.call in NOT_DONE else 0
        problem = trace.crash or wait_for_state(
            self.server, lambda state: state.is_back(self.before, left_open)
        )
        if left_open:
            self.before = read_state(self.server.process.pid)
        problem = problem or ask_ten(self.server, at_once(self.design, WORKERS))
        return Outcome(fault, trace.injections, problem)


@contextlib.contextmanager
def serving(design: ListedDesign, folder: Path) -> Iterator[ServerUnderFaults]:
    """The server must exit with status 0."""
    with running(folder, "--design", design.name, *design.workers(WORKERS), *OPTIONS) as server:
        yield ServerUnderFaults(server, design, folder)


Serving = Callable[[ListedDesign, Path], contextlib.AbstractContextManager[ServerUnderFaults]]


def endure_all(  # noqa: PLR0913
    design: ListedDesign,
    folder: Path,
    faults: Iterable[Fault],
    tally: Tally,
    replaces: bool = False,
    *,
    start: Serving = serving,
) -> None:
    """Tries all faults, with a new server after each problem."""
    left = list(faults)
    while left:
        outcomes = endure_some(design, folder, left, replaces, start)
        for outcome in outcomes:
            tally.add(outcome)
        del left[: len(outcomes)]


def endure_some(
    design: ListedDesign, folder: Path, faults: list[Fault], replaces: bool, start: Serving
) -> list[Outcome]:
    """Tries faults up to the first problem. Without one the server must exit with status 0."""
    outcomes: list[Outcome] = []
    try:
        with start(design, folder) as tested:
            for fault in faults:
                outcomes.append(tested.endure(fault, replaces))
                if outcomes[-1].problem is not None:
                    tested.server.kill()
                    break
    except AssertionError as problem:
        assert outcomes, "it does not start"
        outcomes[-1] = replace(outcomes[-1], problem=f"at its end: {problem}")
    return outcomes
