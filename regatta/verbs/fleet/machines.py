"""The machines of a fleet: hosts reached over ssh, or the workers of the user's Dask cluster."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit

from regatta.errors import HostLostError, PlacementError, RegattaError
from regatta.measure.places.hosts.clusters import DaskCluster, UserCluster
from regatta.measure.places.hosts.ssh_host import SshHost
from regatta.record.study.hosts import host_name

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
