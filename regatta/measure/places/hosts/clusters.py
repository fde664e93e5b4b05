"""Dask clusters: one in the lab's process for the workers of a race's hosts, or the user's own."""

from __future__ import annotations

import logging
import warnings
from contextlib import suppress
from typing import Any

from dask import config
from distributed import Client, LocalCluster, Security

from regatta.errors import PlacementError
from regatta.measure.places.hosts.host import CLOSE_S, TaskEngine
from regatta.measure.places.hosts.worker import TLS_NAMES

# Dask's scheduler, in the lab's process, for the workers of a race's hosts. It listens only on
# loopback. Every connection needs a certificate that was made for this race and leaves the lab only
# through ssh.

LOOPBACK = "127.0.0.1"
CONFIG: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.http.routes": [],
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.worker.profile.enabled": False,
}


class DaskCluster(TaskEngine):
    """A cluster of this race's own."""

    def __init__(self) -> None:
        config.set(CONFIG)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.security = Security.temporary()
        with warnings.catch_warnings(action="ignore"):  # about a port that another race uses
            self.cluster = LocalCluster(
                n_workers=0,
                host=LOOPBACK,
                protocol="tls://",
                security=self.security,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        self.client = Client(self.cluster, security=self.security)

    @property
    def port(self) -> int:
        return int(self.cluster.scheduler_address.rpartition(":")[2])

    def tls(self) -> dict[str, str]:
        """The certificates that a worker needs to connect."""
        return {name: getattr(self.security, name) for name in TLS_NAMES}

    def close(self) -> None:
        super().close()
        with suppress(Exception):
            self.cluster.close(timeout=CLOSE_S)


CONNECT_S = 20


class UserCluster(TaskEngine):
    """The lab is a client of the scheduler; closing it leaves the cluster as it was."""

    def __init__(self, address: str) -> None:
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
