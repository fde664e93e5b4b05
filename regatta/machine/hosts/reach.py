"""Reaches the hosts of a study, by ssh or through the user's Dask cluster."""

from __future__ import annotations

from regatta.machine.hosts.cluster_host import ClusterHost
from regatta.machine.hosts.dask_cluster import DaskCluster
from regatta.machine.hosts.engine import Engine
from regatta.machine.hosts.host import Host
from regatta.machine.hosts.ssh_host import SshHost
from regatta.machine.hosts.user_cluster import UserCluster
from regatta.machine.sides.placement import HostsWish
from regatta.study.hosts import host_name


def engine_for(wish: HostsWish) -> Engine:
    return DaskCluster() if wish.cluster is None else UserCluster(wish.cluster)


def reach(name: str, engine: Engine, hosts: list[Host]) -> Host:
    """Starts a worker on the host, which is appended to `hosts`."""
    if isinstance(engine, UserCluster):
        return ClusterHost(name, engine, hosts)
    assert isinstance(engine, DaskCluster)
    return SshHost(host_name(name), engine, hosts)
