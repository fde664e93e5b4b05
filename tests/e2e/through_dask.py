"""A race's namespaces on this machine, with each side called through Dask instead of directly."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from regatta.measure.places.hosts.clusters import LOOPBACK, DaskCluster
from regatta.measure.places.hosts.host import Host
from regatta.measure.places.hosts.placement import HostSide, settle
from regatta.measure.places.hosts.ssh_host import PORTS, SshHost
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import Placement
from regatta.record.study.hosts import HostName


class ThisMachine(SshHost):
    """Its worker is started without ssh."""

    def try_start(self) -> None:
        port = random.choice(PORTS)
        self.worker = f"tls://{LOOPBACK}:{port}"
        command = [sys.executable, "-m", "regatta.measure.places.hosts.worker"]
        self.open_worker(command, port, self.cluster.port)


@dataclass(frozen=True, kw_only=True)
class NamespaceSide(HostSide):
    def there(self) -> SidePlacement:
        return SidePlacement(self.enter, self.cpus, self.groups)


@contextmanager
def through_dask(place: Placement) -> Iterator[Placement]:
    """The same namespaces and CPUs. One worker has both sides, so that it knows both programs."""
    engine = DaskCluster()
    hosts: list[Host] = []
    try:
        host = ThisMachine(HostName("localhost"), engine, hosts)
        groups = settle(host, place.cpus()).groups
        server, client = (
            NamespaceSide(side.enter, side.cpus, groups, host=host)
            for side in (place.server, place.client)
        )
        yield replace(place, server=server, client=client, holders=[])
    finally:
        for host in hosts:
            host.close()
        engine.close()
