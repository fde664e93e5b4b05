"""`[placement]`: where the two sides of a trial run."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from regatta.study import cpus, hosts, limits
from regatta.study.form import Form, Many, Text, listed, must, once, one_of, whole, wrong


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


def read_host(value: str) -> str:
    try:
        hosts.host_name(value)
    except ValueError as error:
        raise must(hosts.NEEDED) from error
    return value


def read_clients(value: Any) -> int | tuple[str, ...]:
    """How many there are, or the hosts of each."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= limits.MAX_CLIENTS:
            raise must(f"a whole number from 1 to {limits.MAX_CLIENTS}, or hosts")
        return value
    found = listed(value)
    if not all(isinstance(host, str) for host in found):
        raise must(f"{hosts.NEEDED}, or how many clients there are")
    return once(tuple(map(read_host, found)))


Host = Annotated[str, AfterValidator(read_host)]
Clients = Annotated[int | tuple[str, ...], PlainValidator(read_clients)]


class PlacementForm(Form):
    """The keys of `[placement]`."""

    placement: Annotated[str, one_of(limits.PLACEMENTS)] = Field(default="auto", alias="kind")
    server_cpus: Cpus | None = None
    client_cpus: Cpus | None = None
    network: Annotated[str, one_of(limits.NETWORKS)] = limits.NETWORKS[0]
    engine: Annotated[str, one_of(limits.CONTAINER_ENGINES)] | None = None
    """None: whichever is there and works."""
    server: Host | None = None
    """Where the server's side is, by ssh."""
    clients: Clients = 1
    """How many share the load; on hosts of their own: which, by ssh."""
    address: Text | None = None
    """Of the server as its clients reach it; None: as ssh reached its host."""
    steering: Annotated[str, one_of(limits.STEERINGS)] = limits.STEERINGS[0]

    @model_validator(mode="after")
    def check_containers(self) -> Self:
        for key in ("network", "engine"):
            if self.has(key) and self.placement != limits.CONTAINERS:
                raise wrong(key, 'is for kind = "containers"; remove one')
        return self

    @model_validator(mode="after")
    def check_hosts(self) -> Self:
        if self.placement != limits.HOSTS:
            for key in ("server", "address"):
                if self.has(key):
                    raise wrong(key, 'is for kind = "hosts"; remove one')
            if self.client_hosts:
                raise wrong("clients", 'names hosts, which are for kind = "hosts"; say how many')
            return self
        for key in ("server", "clients"):
            if not self.has(key):
                raise wrong(key, 'is missing; kind = "hosts" needs `server` and `clients`')
        if not self.client_hosts:
            raise wrong("clients", 'is a number; kind = "hosts" needs a host for each client')
        if hosts.host_name(self.server or "") in map(hosts.host_name, self.client_hosts):
            raise wrong("clients", 'has the server\'s host; race on one by kind = "netns"')
        return self

    @property
    def client_hosts(self) -> tuple[str, ...]:
        """One for each client, where they have hosts of their own."""
        return () if isinstance(self.clients, int) else self.clients

    @property
    def client_count(self) -> int:
        return self.clients if isinstance(self.clients, int) else len(self.clients)
