"""A fault while a server serves: what becomes of it."""

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tests.commands import run
from tests.processes import children, tree, wait_until_asleep
from tests.reliability.injection import NONE, Fault, Trace, attached
from tests.reliability.state import ask_ten, at_once, await_state, read_state
from tests.reliability.tally import Outcome, Tally
from tests.servers import ListedDesign, RunningServer, program, running

CLIENTS = 40
WORKERS = 4
SHORT_S, LONG_S = 0.15, 1.0
LOADS = 3
"""Until a single fault has come; then it never will."""
OPTIONS = ("--work", "snapshot", "--max-age", "50", "--idle-timeout", "2000")
"""A reading of all processes from time to time, and nobody is kept for long."""
NOT_DONE = {"close"}
"""In truth such a call fails with the descriptor closed; strace leaves it out."""


def load(server: RunningServer, seconds: float) -> None:
    """Clients who ask again and again, answered or not; each anew after two replies."""
    run(
        program("regatta-client"),
        *("--quiet", "--connections", CLIENTS, "--load", "closed", "--per-connection", 2),
        *("--duration", seconds, "--timeout", 1000, server.address),
    )


class Trials:
    """Of one server; after a problem it may be harmed."""

    def __init__(self, server: RunningServer, design: ListedDesign, folder: Path) -> None:
        self.server = server
        self.design = design
        self.folder = folder
        wait_until_asleep(server.process.pid)  # a child gives back what it inherited
        at_first = read_state(server.process.pid)
        load(server, SHORT_S)
        problem = await_state(server, lambda state: state.is_at_rest(at_first))
        assert problem is None, problem
        self.before = read_state(server.process.pid)

    def attached(self, fault: Fault) -> contextlib.AbstractContextManager[Trace]:
        return attached(tree(self.server.process.pid), self.folder, fault)

    def kill_one(self) -> None:
        """Of a pool's processes, so that another is started."""
        for pid in children(self.server.process.pid)[:1]:
            os.kill(pid, signal.SIGKILL)

    def calls(self, seconds: float = LONG_S, *, replaces: bool = False) -> set[str]:
        """What it calls under load; replaces: and when a worker has been killed."""
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
        problem = trace.crash or await_state(
            self.server, lambda state: state.is_back(self.before, left_open)
        )
        if left_open:
            self.before = read_state(self.server.process.pid)
        problem = problem or ask_ten(self.server, at_once(self.design, WORKERS))
        return Outcome(fault, trace.injections, problem)


@contextlib.contextmanager
def serving(design: ListedDesign, folder: Path) -> Iterator[Trials]:
    """It must end with status 0."""
    with running(folder, "--design", design.name, *design.workers(WORKERS), *OPTIONS) as server:
        yield Trials(server, design, folder)


def endure_all(
    design: ListedDesign,
    folder: Path,
    faults: Iterable[Fault],
    tally: Tally,
    replaces: bool = False,
) -> None:
    """One after the other, of one server while it is unharmed, else of the next."""
    left = list(faults)
    while left:
        outcomes = endure_some(design, folder, left, replaces)
        for outcome in outcomes:
            tally.add(outcome)
        del left[: len(outcomes)]


def endure_some(
    design: ListedDesign, folder: Path, faults: list[Fault], replaces: bool
) -> list[Outcome]:
    """Up to the first problem; a server without one must end with status 0."""
    outcomes: list[Outcome] = []
    try:
        with serving(design, folder) as trials:
            for fault in faults:
                outcomes.append(trials.endure(fault, replaces))
                if outcomes[-1].problem is not None:
                    trials.server.kill()
                    break
    except AssertionError as problem:
        assert outcomes, "it does not even start"
        outcomes[-1] = replace(outcomes[-1], problem=f"at its end: {problem}")
    return outcomes
