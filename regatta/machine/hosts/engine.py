"""Dask's scheduler, in the lab's process, for the workers of a race's hosts.

It listens on loopback alone, and every connection shows a certificate that was made for this race
and never leaves the lab but by ssh. Nothing is ever done twice or moved: a trial that was cut off
has failed.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dask import config
from distributed import Client, Future, LocalCluster, Security, wait

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
TLS_NAMES = ("tls_ca_file", "tls_worker_key", "tls_worker_cert")


class Engine:
    """Close it when the hosts have been left."""

    def __init__(self) -> None:
        config.set(CONFIG)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.security = Security.temporary()
        with warnings.catch_warnings(action="ignore"):  # of a port that another race has
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
        """What a worker needs to be let in."""
        return {name: getattr(self.security, name) for name in TLS_NAMES}

    def submit(
        self, worker: str, function: Callable[..., Any], *args: Any, actor: bool, **named: Any
    ) -> Any:
        """To this worker and no other, once."""
        return self.client.submit(
            function,
            *args,
            workers=[worker],
            allow_other_workers=False,
            retries=0,
            pure=False,
            actor=actor,
            **named,
        )

    def has_come(self, future: Any, within_s: float) -> bool:
        """Whether it has an answer or an error by then.

        Not asked by its `result`: Dask fetches for all futures at once, and who is cut off while it
        fetches for one leaves all others without.
        """
        with suppress(TimeoutError):
            if isinstance(future, Future):
                with self.client.as_current():
                    wait([future], timeout=within_s)
            else:
                future.result(timeout=within_s)  # of an actor's: nothing is fetched
        return bool(future.done())

    def close(self) -> None:
        """Whatever Dask meets as it ends, all that the race wanted of it is here by now.

        What was cancelled inside it even comes as an UnboundLocalError of its own `sync`.
        """
        with suppress(Exception):
            self.client.close(timeout=5)
        with suppress(Exception):
            self.cluster.close(timeout=5)
