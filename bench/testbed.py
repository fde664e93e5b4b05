"""Where trials run: the placement of both sides, a folder for files, and what is started there."""

import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.paths import HERE
from bench.sleepers import RunningSleepers
from regatta.errors import RegattaError, TrialError
from regatta.machine import perf
from regatta.machine.guard import guard_environment
from regatta.machine.placed import NETNS, Placement
from regatta.trial.side import Side

ASK_TIMEOUT_S = 20
CLIENT_TIMEOUT_S = 120
NO_PERF = perf.without_perf(None)
# Ten thousand connections of one process, and its other files.
DESCRIPTORS = 11_000


# What a trial yields: its figures by name.
Figures = dict[str, float]


@dataclass(frozen=True)
class Testbed:
    """What all trials share. `body` is what every server answers, give or take a digit."""

    placement: Placement
    folder: Path
    body: bytes
    sleepers: RunningSleepers = field(default_factory=RunningSleepers)

    @property
    def host(self) -> str:
        return self.placement.server_address

    def write(self, name: str, data: bytes) -> str:
        """A file for one of the programs; returns its path."""
        path = self.folder / name
        path.write_bytes(data)
        return str(path)

    def ask(self, port: int, request: bytes) -> bytes:
        """One request from the client's side, and all that comes back."""
        command = [sys.executable, "-S", str(HERE / "ask.py"), self.host, str(port)]
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
            raise TrialError(f"the first request failed: {lines[-1] if lines else '?'}")
        return run.stdout

    def run_client(self, command: Sequence[str]) -> tuple[str, int]:
        """Runs a client to its end: what it printed, and its CPU time in ns, start and all."""
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
    """The CPU time of all processes that we started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def raise_descriptor_limit() -> None:
    """All that the system allows without asking; the programs that we start inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < DESCRIPTORS:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
        except (ValueError, OSError) as error:
            raise RegattaError(
                f"10,000 connections need {DESCRIPTORS} descriptors and {hard} are allowed; "
                f"raise the limit first: ulimit -Hn {DESCRIPTORS}"
            ) from error
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def widen_ports(placement: Placement) -> None:
    """Lets short connections use almost every port, where the client has a network of its own."""
    if placement.kind != NETNS:
        return
    settings = "echo 1024 65535 > ip_local_port_range; echo 1 > tcp_tw_reuse"
    command = ["/bin/sh", "-c", f"cd /proc/sys/net/ipv4 && {{ {settings}; }}"]
    subprocess.run(
        placement.client.command(command), env=guard_environment(), capture_output=True, check=False
    )
