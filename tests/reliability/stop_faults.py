"""Faults during a stop: the server exits, with one line of reason if the status is not 0."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from tests.processes import tree
from tests.reliability.injection import Fault, attached
from tests.reliability.serving_faults import OPTIONS, WORKERS
from tests.reliability.state import at_once
from tests.reliability.tally import Outcome
from tests.servers import PATIENCE_S, ListedDesign, ask_over, rows_of, running

STAYING = 3


def end_problem(status: int, stderr: str) -> str | None:
    """None if it exits with status 0, or with 1 or 2 and a reason."""
    last = stderr.splitlines()[-1:]
    if status == 0 or (status in (1, 2) and last and last[0].startswith("regatta-server: ")):
        return None
    return f"it ended with status {status} and printed {last}"


def stop(design: ListedDesign, fault: Fault, folder: Path) -> tuple[Outcome, set[str]]:
    """Stops a server that has connected clients. Also returns its calls."""
    options = ("--design", design.name, *design.workers(WORKERS), *OPTIONS)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running(folder, *options))
        server.is_over = True  # its end is checked here
        for client in stack.enter_context(
            server.connect_many(min(STAYING, at_once(design, WORKERS)))
        ):
            rows_of(ask_over(client))
        with attached(tree(server.process.pid), folder, fault) as trace:
            server.process.send_signal(signal.SIGTERM)
            try:
                stderr = server.process.communicate(timeout=PATIENCE_S)[1].decode()
                problem = end_problem(server.process.returncode, stderr)
            except subprocess.TimeoutExpired:
                problem = "it does not exit"
                os.killpg(server.process.pid, signal.SIGKILL)
        return Outcome(fault, trace.injections, trace.crash or problem), trace.calls
