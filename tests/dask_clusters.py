"""A Dask cluster of the user, over TLS: a scheduler in the lab's network, a worker on each host."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Security

from tests.commands import run_well
from tests.e2e.racing import environment
from tests.namespaces import HAS_CLOCKS, NETWORK, Network, network
from tests.processes import children, commands, network_namespaces, pids_inside

PORT = 8786
NAMES = {"alpha": "worker-a", "beta": "worker-b"}
"""Of the workers, by host."""
START_S = 120.0
UP = """
import sys
from distributed import Client
with Client(sys.argv[1], timeout=60) as client:
    client.wait_for_workers(int(sys.argv[2]), timeout=60)
"""
ADDRESS = """
import sys
from distributed import Client
with Client(sys.argv[1], timeout=60) as client:
    workers = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    print(*(address for address, worker in workers.items() if worker["name"] == sys.argv[2]))
"""
ROLES = ("client", "worker", "scheduler")


@dataclass
class Cluster:
    hosts: Network
    settings: dict[str, str]
    """Environment variables of Dask."""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    """The scheduler's and those of the workers, by host."""

    @property
    def address(self) -> str:
        return f"tls://{NETWORK}.1:{PORT}"

    def environment(self) -> dict[str, str]:
        return {**environment(), **self.settings}

    def start_scheduler(self) -> None:
        words = ["--host", f"{NETWORK}.1", "--port", str(PORT), "--no-dashboard"]
        words += ["--protocol", "tls"]
        self.start("scheduler", self.hosts.enter, "dask_scheduler", *words)

    def start_worker(self, host: str) -> None:
        """With a nanny, as users start it."""
        (init,) = children(self.hosts.hosts[host].pid)
        kinds = ["--net", "--mount", "--pid", "--uts", *(["--time"] if HAS_CLOCKS else [])]
        within = ["nsenter", *kinds, "--target", str(init), "--"]
        words = ["--name", NAMES[host], "--nthreads", "1", "--no-dashboard"]
        self.start(host, within, "dask_worker", self.address, *words)

    def start(self, name: str, within: Sequence[str], module: str, *words: str) -> None:
        with (self.hosts.folder / f"{name}-dask.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [*within, sys.executable, "-m", f"distributed.cli.{module}", *words],
                cwd=self.hosts.folder,
                env=self.environment(),
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def wait_for_workers(self) -> None:
        self.ask(UP, str(len(self.hosts.hosts)))

    def worker_address(self, name: str) -> str:
        return self.ask(ADDRESS, name)

    def ask(self, script: str, word: str) -> str:
        command = [*self.hosts.enter, sys.executable, "-c", script, self.address, word]
        return run_well(*command, env=self.environment(), timeout=START_S).strip()

    def environments(self, host: str) -> list[tuple[str, bytes]]:
        """Command lines and environments of a host's processes."""
        found = []
        for pid in pids_inside(network_namespaces([self.hosts.hosts[host].pid])):
            with suppress(OSError):
                text = Path(f"/proc/{pid}/environ").read_bytes()
                found.append(("".join(commands([pid])), b"\0" + text))
        return found

    def ours(self) -> list[str]:
        """Processes of races on the hosts."""
        found = [command for name in self.hosts.hosts for command in self.hosts.running(name)]
        marks = ("hosts.worker", "/regatta-server", "/regatta-client")
        return [command for command in found if any(mark in command for mark in marks)]

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.communicate()


def tls_settings(folder: Path) -> dict[str, str]:
    """Certificates in files, and the environment variables that name them."""
    made = Security.temporary()
    contents = {"CA_FILE": made.tls_ca_file}
    for role in ROLES:
        contents[f"{role.upper()}__CERT"] = getattr(made, f"tls_{role}_cert")
        contents[f"{role.upper()}__KEY"] = getattr(made, f"tls_{role}_key")
    settings = {"DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true"}
    for name, content in contents.items():
        path = folder / f"{name.lower()}.pem"
        path.write_text(content)
        settings[f"DASK_DISTRIBUTED__COMM__TLS__{name}"] = str(path)
    return settings


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    with network(folder, *NAMES) as hosts:
        made = Cluster(hosts, tls_settings(folder))
        try:
            made.start_scheduler()
            for host in NAMES:
                made.start_worker(host)
            made.wait_for_workers()
            yield made
        finally:
            made.close()
