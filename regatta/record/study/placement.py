"""`[placement]`: where the two sides of a trial run."""

from collections.abc import Hashable
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationInfo,
    model_validator,
)

from regatta.record.study import cluster, cpus, hosts, limits
from regatta.record.study.toml_table import (
    Many,
    Text,
    TomlTable,
    listed,
    must,
    once,
    one_of,
    whole,
    wrong,
)


def read_cpus(value: Any) -> Any:
    try:
        return cpus.cpus_of(value) if isinstance(value, str) else value
    except ValueError as error:
        raise must(cpus.NEEDED) from error


Cpus = Annotated[
    Many[Annotated[int, whole(0, limits.MAX_CPU)]],
    BeforeValidator(read_cpus),
    AfterValidator(lambda found: tuple(sorted(found))),
]


def read_cluster(value: str) -> str:
    if not cluster.is_scheduler(value):
        raise must(cluster.NEEDED)
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
    found = listed(value)
    if not all(isinstance(host, str) for host in found):
        raise must(f"{hosts.NEEDED}, or the number of clients")
    return once(tuple(read_host(host, info) for host in found))


Scheduler = Annotated[str, AfterValidator(read_cluster)]
Host = Annotated[str, AfterValidator(read_host)]
Clients = Annotated[int | tuple[str, ...], PlainValidator(read_clients)]


class PlacementTable(TomlTable):
    """The keys of `[placement]`."""

    placement: Annotated[str, one_of(limits.PLACEMENTS)] = Field(default="auto", alias="kind")
    server_cpus: Cpus | None = None
    client_cpus: Cpus | None = None
    network: Annotated[str, one_of(limits.NETWORKS)] = limits.NETWORKS[0]
    engine: Annotated[str, one_of(limits.CONTAINER_ENGINES)] | None = None
    """None: the first one that works."""
    cluster: Scheduler | None = None
    """The scheduler of a Dask cluster, whose workers are the hosts."""
    server: Host | None = None
    """The server's host."""
    clients: Clients = 1
    """Number of clients that share the load, or their hosts."""
    address: Text | None = None
    """The server's address for its clients; None: the one at which the lab reaches it."""
    steering: Annotated[str, one_of(limits.STEERINGS)] = limits.STEERINGS[0]

    @model_validator(mode="after")
    def check_containers(self) -> Self:
        for key in ("network", "engine"):
            if self.has(key) and self.placement != limits.CONTAINERS:
                raise wrong(key, 'is only for kind = "containers"; remove one of them')
        return self

    @model_validator(mode="after")
    def check_hosts(self) -> Self:
        if self.placement != limits.HOSTS:
            for key in ("cluster", "server", "address"):
                if self.has(key):
                    raise wrong(key, 'is only for kind = "hosts"; remove one of them')
            if self.client_hosts:
                raise wrong(
                    "clients", 'names hosts, but only kind = "hosts" has hosts; give a number'
                )
            return self
        for key in ("server", "clients"):
            if not self.has(key):
                raise wrong(key, 'is missing; kind = "hosts" needs `server` and `clients`')
        if not self.client_hosts:
            raise wrong("clients", 'is a number; kind = "hosts" needs a list of hosts')
        places = [self.place_of(one) for one in (self.server or "", *self.client_hosts)]
        if places[0] in places[1:]:
            raise wrong(
                "clients", 'contains the server\'s host; to race on one host, use kind = "netns"'
            )
        if len(set(places)) < len(places):
            raise wrong("clients", "names a host twice; name each once")
        return self

    def place_of(self, host: str) -> Hashable:
        """What identifies the machine, as far as its name says."""
        return hosts.host_name(host).place if self.cluster is None else host

    @property
    def client_hosts(self) -> tuple[str, ...]:
        """One per client; empty if all clients run here."""
        return () if isinstance(self.clients, int) else self.clients

    @property
    def client_count(self) -> int:
        return self.clients if isinstance(self.clients, int) else len(self.clients)
