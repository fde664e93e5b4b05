"""Where the machines of a fleet are: by ssh, or workers of a Dask cluster that the user has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from distributed import Client, Future, wait

from regatta.errors import HostLostError, PlacementError, RegattaError
from regatta.machine.hosts.engine import Engine
from regatta.machine.hosts.host import Host
from regatta.study.hosts import host_name

T = TypeVar("T")
CONNECT_S = 20
LOOK_S = 0.5


class Machines(ABC):
    """Use it in a `with` statement, which ends what it has started on them."""

    names: list[str]
    """Each once; also the names of folders."""

    @abstractmethod
    def ask(self, name: str, question: Callable[..., T], *args: Any) -> T:
        """What a function answers there; HostLostError if the machine goes meanwhile."""

    @abstractmethod
    def close(self) -> None:
        """Ends what runs there for us."""

    def __enter__(self) -> Machines:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SshMachines(Machines):
    """A worker of ours on each host, over ssh."""

    def __init__(self, urls: list[str]) -> None:
        self.urls = {folder_name(url): url for url in urls}
        if len(self.urls) < len(urls):
            raise PlacementError("a host is named twice; two races on one would disturb each other")
        self.names = list(self.urls)
        self.engine = Engine()
        self.hosts: dict[str, Host] = {}

    def ask(self, name: str, question: Callable[..., T], *args: Any) -> T:
        if name not in self.hosts:
            self.hosts[name] = Host(host_name(self.urls[name]), self.engine, [])
        return self.hosts[name].ask(question, *args)

    def close(self) -> None:
        for host in self.hosts.values():
            host.close()
        self.engine.close()


def folder_name(url: str) -> str:
    """Of a host: as it is named, without what would be a path."""
    host = host_name(url)
    return host.host.replace(":", "-") + (f"-{host.port}" if host.port else "")


class ClusterMachines(Machines):
    """The workers of a cluster, one a machine. What secures it is in the user's Dask settings."""

    def __init__(self, address: str) -> None:
        try:
            self.client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise PlacementError(f"the scheduler {address} does not answer: {error}") from error
        self.workers: dict[str, str] = {}
        for worker in sorted(self.client.scheduler_info(n_workers=-1)["workers"]):
            self.workers.setdefault(urlsplit(worker).hostname or worker, worker)
        self.names = list(self.workers)
        if not self.names:
            self.close()
            raise PlacementError(f"the cluster {address} has no workers")

    def ask(self, name: str, question: Callable[..., T], *args: Any) -> T:
        future: Future[T] = self.client.submit(
            question,
            *args,
            workers=[self.workers[name]],
            allow_other_workers=False,
            retries=0,
            pure=False,
        )
        try:
            while not future.done():
                with suppress(TimeoutError), self.client.as_current():
                    wait([future], timeout=LOOK_S)
            found: T = future.result()
        except RegattaError:
            raise
        except Exception as error:
            raise HostLostError(f"{name}: its worker is gone ({type(error).__name__})") from error
        return found

    def close(self) -> None:
        with suppress(Exception):
            self.client.close(timeout=5)
