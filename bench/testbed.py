"""What all trials share: the placement of both sides, a folder for files, and the sleepers."""

import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.paths import HERE
from bench.sleepers import RunningSleepers
from regatta.errors import RegattaError, TrialError
from regatta.measure.perf import Perf
from regatta.measure.places.sides import Placement
from regatta.measure.processes import guard_environment
from regatta.measure.trial.side import Side

ASK_TIMEOUT_S = 20
CLIENT_TIMEOUT_S = 120
NO_PERF = Perf()
# Ten thousand connections of one process, and some other files.
DESCRIPTORS = 11_000


# The results of a trial by name.
Figures = dict[str, float]


@dataclass(frozen=True)
class Testbed:
    """What all trials share. `body`: what every server answers."""

    __test__ = False  # for pytest, which takes it for one by its name
    placement: Placement
    folder: Path
    body: bytes
    sleepers: RunningSleepers = field(default_factory=RunningSleepers)

    @property
    def host(self) -> str:
        return self.placement.server_address

    def write(self, name: str, data: bytes) -> str:
        """Writes a file for a program; returns its path."""
        path = self.folder / name
        path.write_bytes(data)
        return str(path)

    def ask(self, port: int, request: bytes) -> bytes:
        """Sends a request from the client's side; returns the whole reply."""
        command = [sys.executable, "-S", str(HERE / "send_request.py"), self.host, str(port)]
        run = subprocess.run(
            self.placement.client.command(command),
            input=request,
            capture_output=True,
            timeout=ASK_TIMEOUT_S,
            env=guard_environment(),
            check=False,
        )
        if run.returncode != 0:
            lines = run.stderr.decode(errors="replace").strip().splitlines()
            raise TrialError(
                f"the first request failed: {lines[-1] if lines else 'no reason given'}"
            )
        return run.stdout

    def run_client(self, command: Sequence[str]) -> tuple[str, int]:
        """Runs a client to its end; returns its output and its CPU time in ns since its start."""
        before = children_cpu_ns()
        with Side(self.placement.client, "client", self.folder) as client:
            client.start(command, NO_PERF, ())
            client.find_program()
            status = client.wait(CLIENT_TIMEOUT_S)
            cpu_ns = children_cpu_ns() - before
            if status != 0:
                raise client.failure(f"{Path(command[0]).name} failed (exit {status})")
            return client.stdout(), cpu_ns


def children_cpu_ns() -> int:
    """The CPU time of all our child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def raise_descriptor_limit() -> None:
    """Raises the limit of open files as far as permitted; our programs inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < DESCRIPTORS:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
        except (ValueError, OSError) as error:
            raise RegattaError(
                f"10,000 connections need {DESCRIPTORS} open files, but the limit is {hard}; "
                f"raise it first: ulimit -Hn {DESCRIPTORS}"
            ) from error
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
