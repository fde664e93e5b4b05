"""`[placement]`: where the two sides of a trial run."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from regatta.study import cpus, hosts, limits
from regatta.study.form import Form, Many, Text, must, one_of, whole, wrong


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


def read_host(value: Any) -> Any:
    try:
        hosts.host_name(value)
    except ValueError as error:
        raise must(hosts.NEEDED) from error
    return value


Host = Annotated[str, AfterValidator(read_host)]


class PlacementForm(Form):
    """The keys of `[placement]`."""

    placement: Annotated[str, one_of(limits.PLACEMENTS)] = Field(default="auto", alias="kind")
    server_cpus: Cpus | None = None
    client_cpus: Cpus | None = None
    network: Annotated[str, one_of(limits.NETWORKS)] = limits.NETWORKS[0]
    engine: Annotated[str, one_of(limits.CONTAINER_ENGINES)] | None = None
    """None: whichever is there and works."""
    server: Host | None = None
    """Where the server's side is, by ssh; the same of the clients'."""
    clients: Many[Host] = ()
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
        for key in ("server", "clients", "address"):
            if self.has(key) and self.placement != limits.HOSTS:
                raise wrong(key, 'is for kind = "hosts"; remove one')
        if self.placement != limits.HOSTS:
            return self
        for key in ("server", "clients"):
            if not self.has(key):
                raise wrong(key, 'is missing; kind = "hosts" needs `server` and `clients`')
        if len(self.clients) > 1:
            raise wrong("clients", "names several hosts; one client is possible as yet")
        if hosts.host_name(self.clients[0]) == hosts.host_name(self.server or ""):
            raise wrong("clients", 'is the server\'s host; race on one by kind = "netns"')
        return self
