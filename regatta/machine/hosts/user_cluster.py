"""A Dask cluster of the user, whose workers are hosts. The user's Dask settings secure it."""

from __future__ import annotations

import logging

from distributed import Client

from regatta.errors import PlacementError
from regatta.machine.hosts.engine import Engine

CONNECT_S = 20


class UserCluster(Engine):
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
