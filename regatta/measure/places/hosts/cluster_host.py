"""A host on which the user's Dask cluster has a worker.

That worker starts the race's own worker, which joins the cluster for the time of the race: its
environment is clean, nothing else runs in it, and it can be ended.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from distributed import get_worker

from regatta.errors import PlacementError, UsageError
from regatta.measure.places.hosts.clusters import UserCluster
from regatta.measure.places.hosts.host import (
    BEAT_S,
    END_TIMEOUT_S,
    POLL_S,
    START_TIMEOUT_S,
    Host,
    WorkerProcess,
)
from regatta.measure.places.hosts.worker import PREFIX, TLS_NAMES, WorkerTask

SILENT_S = 10.0
"""A host that answers no heartbeat for this time is lost.

Longer than over ssh: a heartbeat passes through the user's worker, which has work of its own. If
the lab ends, the scheduler drops the actor, and with it the input of the race's worker, at once.
"""
LISTED = 5


class StartedWorker(WorkerProcess):
    """The race's worker, as an actor on the user's worker, which holds its input."""

    def __init__(self) -> None:
        here = get_worker()
        security = {name: getattr(here.security, name) for name in TLS_NAMES}
        task = WorkerTask(
            scheduler=here.scheduler.address,
            host=urlsplit(here.address).hostname or "",
            tls={name: value for name, value in security.items() if value},
            patience_s=SILENT_S,
        )
        super().__init__([sys.executable, "-m", "regatta.measure.places.hosts.worker"], task)

    async def beat(self) -> None:
        """Passes a heartbeat on. Runs in Dask's event loop, so it is never behind other calls."""
        self.write(b".")


class ClusterHost(Host):
    """Named as its worker is in the cluster."""

    def __init__(self, name: str, engine: UserCluster, all_hosts: list[Host]) -> None:
        self.name = name
        self.cluster = engine
        self.started: Any = None
        """The actor; None if the host is closed."""
        self.is_silent = False
        self.there = ""
        """The address of the user's worker."""
        super().__init__(engine, all_hosts)

    def __str__(self) -> str:
        return self.name

    def start(self) -> None:
        self.there = find_worker(self.cluster, self.name)
        self.address = urlsplit(self.there).hostname or ""
        for other in self.all_hosts:
            if other.address == self.address:
                raise UsageError(
                    f"the workers {other} and {self} are on one host ({self.address}); name "
                    'workers on two, or race on one host with kind = "netns"'
                )
        self.started = self.wait_for(
            self.engine.submit(self.there, StartedWorker, actor=True), START_TIMEOUT_S
        )
        try:
            home = json.loads(self.wait_for(self.started.home(), 2 * START_TIMEOUT_S))
        except BaseException:
            self.close()
            raise
        self.root, self.worker = Path(home["root"]), home["worker"]
        threading.Thread(target=self.send_heartbeats, args=(self.started,), daemon=True).start()

    def wait_for(self, future: Any, within_s: float) -> Any:
        """PlacementError if the user's worker does not answer."""
        deadline = time.monotonic() + within_s
        try:
            while not self.engine.is_done(future, POLL_S):
                if self.there not in self.cluster.workers() or time.monotonic() > deadline:
                    raise PlacementError(f"the worker {self} does not answer")
            return future.result()
        except ModuleNotFoundError as error:
            raise PlacementError(
                f"the worker {self} has no module {error.name}; install this version of Regatta "
                "for the cluster's scheduler and workers"
            ) from error
        except PlacementError as error:
            raise PlacementError(f"{self}: {error}") from error
        except Exception as error:
            raise PlacementError(f"the worker {self} was lost: {error}") from error

    def send_heartbeats(self, started: Any) -> None:
        """Sends them on time, also when an answer is late."""
        answered = time.monotonic()
        unanswered: list[Any] = []
        with suppress(Exception):
            while self.started is started and time.monotonic() - answered < SILENT_S:
                unanswered.append(started.beat())
                time.sleep(BEAT_S)
                late = [beat for beat in unanswered if not self.engine.is_done(beat, 0.001)]
                if len(late) < len(unanswered):
                    answered = time.monotonic()
                unanswered = late
        self.is_silent = True

    def close(self) -> None:
        started, self.started = self.started, None
        if started is not None and self.cluster.is_connected and not self.is_silent:
            with suppress(Exception):
                self.engine.is_done(started.leave(), 2 * END_TIMEOUT_S)

    @property
    def is_lost(self) -> bool:
        return self.started is None or self.has_exited

    @property
    def has_exited(self) -> bool:
        if self.started is None:
            return False
        lost = self.is_silent or not self.cluster.is_connected
        return lost or self.worker not in self.cluster.workers()


def find_worker(cluster: UserCluster, name: str) -> str:
    """The address of the worker with this name or address."""
    found = cluster.workers()
    if name in found:
        return name
    named = [address for address, known in found.items() if known == name]
    if len(named) == 1:
        return named[0]
    if named:
        raise UsageError(f"the cluster has {len(named)} workers with the name {name!r}")
    names = sorted(one for one in found.values() if not one.startswith(PREFIX))  # the user's
    close = get_close_matches(name, names, 1)
    if close:
        hint = f"did you mean {close[0]!r}?"
    elif names:
        more = ", …" if len(names) > LISTED else ""
        hint = f"it has {', '.join(map(repr, names[:LISTED]))}{more}"
    else:
        hint = "it has no workers"
    raise UsageError(f"the cluster has no worker with the name or address {name!r}; {hint}")
