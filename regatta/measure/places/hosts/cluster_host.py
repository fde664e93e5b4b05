"""A host on which the user's Dask cluster has a worker.

That worker starts the race's own worker, which joins the cluster for the time of the race: its
environment is clean, nothing else runs in it, and it can be ended.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from distributed import Client, get_worker

from regatta.errors import PlacementError, UsageError
from regatta.measure.places.hosts.host import (
    BEAT_S,
    END_TIMEOUT_S,
    POLL_S,
    START_TIMEOUT_S,
    Host,
    TaskEngine,
    WorkerProcess,
)
from regatta.measure.places.hosts.worker import PREFIX, TLS_NAMES, WorkerTask

CONNECT_S = 20
SILENT_S = 8.0
"""A host that does not answer a heartbeat for this time is lost.

Longer than over ssh: a heartbeat passes through the user's worker, which has work of its own. If
the lab ends, the scheduler drops the actor, and with it the input of the race's worker, at once.
"""
LISTED = 5


class UserCluster(TaskEngine):
    """The lab is a client of the scheduler; closing it leaves the cluster as it was."""

    def __init__(self, address: str) -> None:
        super().__init__()
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            self.client = Client(address, timeout=CONNECT_S)
        except TypeError as error:  # Dask's own check of `distributed.comm.tls`
            raise PlacementError(
                f"the scheduler {address} needs certificates; name them in your Dask configuration "
                "(distributed.comm.tls)"
            ) from error
        except (OSError, ValueError) as error:
            raise PlacementError(f"the scheduler {address} does not answer: {error}") from error

    def reach(self, name: str) -> Host:
        return ClusterHost(name, self)

    @property
    def is_connected(self) -> bool:
        return bool(self.client.status == "running")

    def workers(self) -> dict[str, str]:
        """The names of the workers, by address; none if the scheduler is gone.

        Not by Client.scheduler_info: every two seconds, Dask replaces what that returns by a list
        without workers, perhaps just before it returns.
        """
        if self.client.scheduler is None:
            return {}
        try:
            found = self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"]
        except OSError:
            return {}
        return {address: str(worker["name"]) for address, worker in found.items()}

    def find(self, name: str) -> str:
        """The address of the worker with this name or address; UsageError if it is not one."""
        found = self.workers()
        if name in found:
            return name
        named = [address for address, known in found.items() if known == name]
        if len(named) == 1:
            return named[0]
        if named:
            raise UsageError(f"the cluster has {len(named)} workers with the name {name!r}")
        names = sorted(known for known in found.values() if not known.startswith(PREFIX))
        hint = f"it has {', '.join(map(repr, names[:LISTED])) or 'none'}"
        if close := get_close_matches(name, names, 1):
            hint = f"did you mean {close[0]!r}?"
        raise UsageError(f"the cluster has no worker with the name or address {name!r}; {hint}")


class StartedWorker(WorkerProcess):
    """The race's worker, as an actor on the user's worker, which holds its input."""

    def __init__(self) -> None:
        here = get_worker()
        security = {name: getattr(here.security, name) for name in TLS_NAMES}
        task = WorkerTask(
            scheduler=here.scheduler.address,
            host=urlsplit(here.address).hostname or "",
            tls={name: value for name, value in security.items() if value},
            patience_s=SILENT_S + 2 * BEAT_S,
        )
        super().__init__([sys.executable, "-m", "regatta.measure.places.hosts.worker"], task)

    async def beat(self) -> None:
        """Passes a heartbeat on. Runs in Dask's event loop, so it is never behind other calls."""
        self.write(b".")


class ClusterHost(Host):
    """Named as its worker is in the cluster."""

    engine: UserCluster
    is_silent = False
    started: Any = None
    """The StartedWorker's proxy."""

    def start(self) -> None:
        users = self.engine.find(self.name)
        self.address = urlsplit(users).hostname or ""
        for other in self.engine.hosts:
            if other.address == self.address:
                raise UsageError(
                    f"the workers {other} and {self} are on one host ({self.address}); name "
                    'workers on two, or race on one host with kind = "netns"'
                )
        begun = self.engine.submit(users, StartedWorker, actor=True)
        self.started = self.wait_for(begun, users, START_TIMEOUT_S)
        try:
            home = json.loads(self.wait_for(self.started.home(), users, 2 * START_TIMEOUT_S))
        except BaseException:
            self.close()
            raise
        self.root, self.worker = Path(home["root"]), home["worker"]
        threading.Thread(target=self.send_heartbeats, daemon=True).start()

    def wait_for(self, future: Any, users: str, within_s: float) -> Any:
        """PlacementError if the user's worker at this address does not answer."""
        deadline = time.monotonic() + within_s
        try:
            while not self.engine.is_done(future, POLL_S):
                if users not in self.engine.workers() or time.monotonic() > deadline:
                    raise PlacementError("it does not answer")
            return future.result()
        except ModuleNotFoundError as error:
            raise PlacementError(
                f"the worker {self} has no module {error.name}; install this version of Regatta "
                "for the cluster's scheduler and workers"
            ) from error
        except PlacementError as error:
            raise PlacementError(f"the worker {self}: {error}") from error
        except Exception as error:
            raise PlacementError(f"the worker {self} was lost: {error}") from error

    def send_heartbeats(self) -> None:
        with suppress(Exception):
            while not self.is_closed and self.engine.is_done(self.started.beat(), SILENT_S):
                time.sleep(BEAT_S)
        self.is_silent = not self.is_closed

    def stop(self) -> None:
        if self.started is not None and self.engine.is_connected and not self.is_silent:
            with suppress(Exception):
                self.engine.is_done(self.started.leave(), 2 * END_TIMEOUT_S)

    @property
    def is_gone(self) -> bool:
        lost = self.is_silent or not self.engine.is_connected
        return lost or self.worker not in self.engine.workers()
