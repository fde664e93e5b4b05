"""`[placement]`: where the two sides of a trial run."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, ValidationInfo

from regatta.record.study import cpus, hosts, keys, limits
from regatta.record.study.keys import must


def read_cpus(value: Any) -> Any:
    try:
        return cpus.cpus_of(value) if isinstance(value, str) else value
    except ValueError as error:
        raise must(cpus.NEEDED) from error


def read_cluster(value: str) -> str:
    if not hosts.is_scheduler(value):
        raise must(hosts.CLUSTER_NEEDED)
    return value


def read_host(value: str, info: ValidationInfo) -> str:
    """With a cluster, the name or address of one of its workers."""
    if info.data.get("cluster") is not None:
        if not (value and value.isprintable()) or value.startswith(f"{hosts.SCHEME}://"):
            raise must("the name or address of a worker of `placement.cluster`")
        return value
    try:
        hosts.host_name(value)
    except ValueError as error:
        raise must(hosts.NEEDED) from error
    return value


def read_clients(value: Any, info: ValidationInfo) -> int | tuple[str, ...]:
    """The number of clients, or their hosts."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= limits.MAX_CLIENTS:
            raise must(f"a whole number from 1 to {limits.MAX_CLIENTS}, or hosts")
        return value
    found = keys.listed(value)
    if not all(isinstance(host, str) for host in found):
        raise must(f"{hosts.NEEDED}, or the number of clients")
    return keys.once(tuple(read_host(host, info) for host in found))


Cpus = Annotated[
    keys.Many[Annotated[int, keys.whole(0, limits.MAX_CPU)]],
    BeforeValidator(read_cpus),
    AfterValidator(lambda found: tuple(sorted(found))),
]
Host = Annotated[str, AfterValidator(read_host)]


class PlacementTable(keys.TomlTable):
    """The keys of `[placement]`."""

    placement: Annotated[str, keys.one_of(limits.PLACEMENTS)] = Field(default="auto", alias="kind")
    server_cpus: Cpus | None = None
    client_cpus: Cpus | None = None
    network: Annotated[str, keys.one_of(limits.NETWORKS)] = limits.NETWORKS[0]
    engine: Annotated[str, keys.one_of(limits.CONTAINER_ENGINES)] | None = None
    """None: the first one that works."""
    cluster: Annotated[str, AfterValidator(read_cluster)] | None = None
    """The scheduler of a Dask cluster, whose workers are the hosts."""
    server: Host | None = None
    """The server's host."""
    clients: Annotated[int | tuple[str, ...], PlainValidator(read_clients)] = 1
    """Number of clients that share the load, or their hosts."""
    address: keys.Text | None = None
    """The server's address for its clients; None: the one at which the lab reaches it."""
    steering: Annotated[str, keys.one_of(limits.STEERINGS)] = limits.STEERINGS[0]

    def mistakes(self, known: keys.Known) -> Iterator[tuple[str, str]]:
        yield from super().mistakes(known)
        of_kinds = {
            limits.CONTAINERS: ("network", "engine"),
            limits.HOSTS: ("cluster", "server", "address"),
        }
        for kind, owned in of_kinds.items():
            for key in owned:
                if self.has(key) and self.placement != kind:
                    yield key, f'is only for kind = "{kind}"; remove one of them'
        if self.placement == limits.HOSTS:
            yield from self._mistakes_in_hosts()
        elif self.client_hosts:
            yield "clients", 'names hosts, but only kind = "hosts" has hosts; give a number'

    def _mistakes_in_hosts(self) -> Iterator[tuple[str, str]]:
        for key in ("server", "clients"):
            if not self.has(key):
                yield key, 'is missing; kind = "hosts" needs `server` and `clients`'
        if not self.client_hosts:
            yield "clients", 'is a number; kind = "hosts" needs a list of hosts'
        # What identifies the machines, as far as their names say.
        named = (self.server or "", *self.client_hosts)
        places = named if self.cluster else [hosts.host_name(host).place for host in named]
        if places[0] in places[1:]:
            yield "clients", 'contains the server\'s host; to race on one host, use kind = "netns"'
        if len(set(places)) < len(places):
            yield "clients", "names a host twice; name each once"

    @property
    def client_hosts(self) -> tuple[str, ...]:
        """One per client; empty if all clients run here."""
        return () if isinstance(self.clients, int) else self.clients

    @property
    def client_count(self) -> int:
        return self.clients if isinstance(self.clients, int) else len(self.clients)
