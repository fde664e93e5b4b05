"""Dask's scheduler, in the lab's process, for the workers of a race's hosts.

It listens only on loopback. Every connection needs a certificate that was made for this race and
leaves the lab only through ssh.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import suppress
from typing import Any

from dask import config
from distributed import Client, LocalCluster, Security

from regatta.machine.hosts.engine import CLOSE_S, Engine
from regatta.machine.hosts.worker import TLS_NAMES

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


class DaskCluster(Engine):
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
