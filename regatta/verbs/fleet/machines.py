"""The machines of a fleet, hosts reached over ssh or workers of the user's Dask cluster, and what
each does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit

from regatta.errors import HostLostError, PlacementError, RegattaError
from regatta.measure.places.hosts.clusters import DaskCluster, UserCluster
from regatta.measure.places.hosts.ssh_host import SshHost
from regatta.measure.processes import guard_environment, guarded
from regatta.record.schema import FILE_NAME
from regatta.record.study.hosts import host_name

# The folder of the race stays until its files are collected, so that a machine that was lost can
# resume.

STUDY, RACE = "study.toml", "race"
FILES = (FILE_NAME, "report.html")
FINISHED = (0, 1)
"""Exit statuses of a race with results; 1 if some trials failed."""
QUOTED = 300
CHUNK_BYTES = 4 << 20
DASK_SETS = (
    "MALLOC_TRIM_THRESHOLD_",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
)
"""What Dask sets in the environment of a cluster's worker; it would change the raced servers."""


@dataclass(frozen=True)
class RaceOrder:
    """What every machine of a fleet is asked to race."""

    name: str
    """The name of the fleet, and of its folder on the machine."""
    study: str
    """The text of the study."""
    options: tuple[str, ...] = ()
    """Options of `regatta race`."""


@dataclass(frozen=True)
class RaceOutput:
    """The output of a race. Its files are read in chunks afterwards."""

    result: str
    """What `regatta race --json` printed."""
    sizes: dict[str, int]
    """Sizes of the files in bytes."""


def fleet_folder(fleet: str) -> Path:
    """The folder of a fleet; machines may share it if they share a home."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "regatta" / "fleet" / fleet


def race_environment() -> dict[str, str]:
    """The environment of the race, without Dask's settings."""
    return {name: text for name, text in guard_environment().items() if name not in DASK_SETS}


def race_on_this_host(order: RaceOrder, machine: str) -> RaceOutput:
    """Runs the race, or resumes it. The race ends with this worker: its successor may resume it."""
    folder = fleet_folder(order.name) / machine
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STUDY).write_text(order.study)
    begun = (folder / RACE / FILE_NAME).exists()
    words = ("--resume", RACE) if begun else (STUDY, "--out", RACE, *order.options)
    done = subprocess.run(
        guarded([sys.executable, "-m", "regatta", "race", *words, "--json", "--quiet"]),
        cwd=folder,
        env=race_environment(),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode not in FINISHED or not done.stdout.strip():
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RegattaError(last.removeprefix("regatta: ")[:QUOTED])
    return RaceOutput(done.stdout, {name: (folder / RACE / name).stat().st_size for name in FILES})


def read_chunk(fleet: str, machine: str, name: str, offset: int) -> bytes:
    """A compressed part of a file, small enough for a slow connection."""
    with (fleet_folder(fleet) / machine / RACE / name).open("rb") as file:
        file.seek(offset)
        return zlib.compress(file.read(CHUNK_BYTES))


def remove_race(fleet: str, machine: str) -> None:
    """Removes the folder of the race, once the fleet has its files."""
    shutil.rmtree(fleet_folder(fleet) / machine, ignore_errors=True)
    with suppress(OSError):  # not empty: other machines use it
        fleet_folder(fleet).rmdir()


T = TypeVar("T")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""The name of a machine and of its folder."""
POLL_S = 0.5


class Machines(ABC):
    """A context manager."""

    names: list[str]
    """Unique; also the names of the machines' folders."""

    @abstractmethod
    def ask(self, name: str, question: Callable[..., T], *args: Any) -> T:
        """Calls a function on a machine; HostLostError if the machine is lost meanwhile."""

    @abstractmethod
    def close(self) -> None:
        """Ends all calls; no more may follow."""

    def __enter__(self) -> Machines:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SshMachines(Machines):
    """Hosts on which we start a worker over ssh."""

    def __init__(self, urls: list[str]) -> None:
        self.urls = {folder_name(url): url for url in urls}
        if len(self.urls) < len(urls):
            raise PlacementError(
                "a host is named twice; two races on one host would disturb each other"
            )
        self.names = list(self.urls)
        self.engine = DaskCluster()
        self.hosts: dict[str, SshHost] = {}
        self.lock = Lock()
        self.closed = False

    def ask(self, name: str, question: Callable[..., T], *args: Any) -> T:
        if name not in self.hosts:
            self.add(name, SshHost(host_name(self.urls[name]), self.engine, []))
        return self.hosts[name].ask(question, *args)

    def add(self, name: str, host: SshHost) -> None:
        """Closes the host at once if `close` was called while it started."""
        with self.lock:
            self.hosts[name] = host
            if self.closed:
                host.close()

    def close(self) -> None:
        with self.lock:
            self.closed = True
            hosts = list(self.hosts.values())
        for host in hosts:
            host.close()
        self.engine.close()


def folder_name(url: str) -> str:
    """The name of a host, without characters of a path."""
    host = host_name(url)
    return host.host.replace(":", "-") + (f"-{host.port}" if host.port else "")


class ClusterMachines(Machines):
    """One worker on each machine of a cluster."""

    def __init__(self, address: str) -> None:
        self.cluster = UserCluster(address)
        self.workers: dict[str, str] = {}
        for worker in sorted(self.cluster.workers()):
            name = (urlsplit(worker).hostname or "").replace(":", "-")
            if not NAME.fullmatch(name):
                raise PlacementError(
                    f"the name of the cluster's worker {worker!r} cannot be a folder"
                )
            self.workers.setdefault(name, worker)
        self.names = list(self.workers)
        if not self.names:
            self.close()
            raise PlacementError(f"the cluster {address} has no workers")

    def ask(self, name: str, question: Callable[..., T], *args: Any) -> T:
        future = self.cluster.submit(self.workers[name], question, *args, actor=False)
        try:
            while not self.cluster.is_done(future, POLL_S):
                # The scheduler would wait forever for the worker of a pinned task.
                if self.workers[name] not in self.cluster.workers():
                    raise HostLostError(f"{name}: its worker is gone")
            found: T = future.result()
        except RegattaError:
            raise
        except Exception as error:
            raise HostLostError(f"{name}: its worker is gone ({type(error).__name__})") from error
        return found

    def close(self) -> None:
        """Disconnects. Races that run on the cluster continue to their end."""
        self.cluster.close()
