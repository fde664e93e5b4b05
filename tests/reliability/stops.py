"""A fault while a server stops: it ends, or says in a line why not as it should."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from tests.processes import tree
from tests.reliability.injection import Fault, attached
from tests.reliability.state import at_once
from tests.reliability.tally import Outcome
from tests.reliability.trials import OPTIONS, WORKERS
from tests.servers import PATIENCE_S, ListedDesign, ask_over, rows_of, running

STAYING = 3


def end_problem(status: int, said: str) -> str | None:
    """It ends with status 0, or with 1 or 2 and a line that says why."""
    last = said.splitlines()[-1:]
    if status == 0 or (status in (1, 2) and last and last[0].startswith("regatta-server: ")):
        return None
    return f"it ended with status {status} and said {last}"


def stop(design: ListedDesign, fault: Fault, folder: Path) -> tuple[Outcome, set[str]]:
    """SIGTERM, with clients who stay, as many as it serves. Returns its calls as well."""
    options = ("--design", design.name, *design.workers(WORKERS), *OPTIONS)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running(folder, *options))
        server.is_over = True  # how it ends is seen here
        for client in stack.enter_context(server.crowd(min(STAYING, at_once(design, WORKERS)))):
            rows_of(ask_over(client))
        with attached(tree(server.process.pid), folder, fault) as trace:
            server.process.send_signal(signal.SIGTERM)
            try:
                said = server.process.communicate(timeout=PATIENCE_S)[1].decode()
                problem = end_problem(server.process.returncode, said)
            except subprocess.TimeoutExpired:
                problem = "it does not end"
                os.killpg(server.process.pid, signal.SIGKILL)
        return Outcome(fault, trace.injections, trace.crash or problem), trace.calls
