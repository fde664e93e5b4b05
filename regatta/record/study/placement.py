"""`[placement]`: where the two sides of a trial run, and how its hosts are named:
`ssh://[USER@]HOST[:PORT][/FOLDER]`, where FOLDER is the clone of Regatta.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, ValidationInfo

from regatta.errors import UsageError
from regatta.record.study import cpus, keys, limits
from regatta.record.study.keys import must

SCHEME = "ssh"
SSH_PORT = 22
HOST_NEEDED = "ssh://HOST, ssh://USER@HOST:PORT or ssh://HOST/FOLDER"
# Excludes everything that ssh could take for an option, or a shell for more than one word.
WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*|\[?[0-9A-Fa-f:]+\]?")


@dataclass(frozen=True)
class HostName:
    host: str
    user: str | None = None
    port: int | None = None
    folder: str | None = None
    """Of the clone on that host; None: the same path as here."""

    @property
    def place(self) -> tuple[str, int]:
        """Host and port, which identify the machine; several may share a host name."""
        return self.host, self.port or SSH_PORT

    def ssh_words(self) -> list[str]:
        words = [] if self.user is None else ["-l", self.user]
        if self.port is not None:
            words += ["-p", str(self.port)]
        return [*words, self.host]


def host_name(text: str) -> HostName:
    """ValueError for an invalid name."""
    url = urlsplit(text)
    host, user = url.hostname or "", url.username
    words = (host,) if user is None else (host, user)
    plain = not (url.query or url.fragment or url.password)
    if url.scheme != SCHEME or not plain or not all(WORD.fullmatch(word) for word in words):
        raise ValueError(f"{text!r} is not a host")
    return HostName(host, user, url.port, url.path.rstrip("/") or None)


CLUSTER_NEEDED = "the address of a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT"


def is_scheduler(text: str) -> bool:
    try:
        url = urlsplit(text)
        named = url.scheme in ("tcp", "tls") and url.hostname and url.port and text.isprintable()
    except ValueError:
        return False
    return bool(named) and not (url.path or url.query or url.fragment or url.username)


def cluster_risk(address: str) -> str | None:
    """What a cluster without encryption permits; None if it is encrypted or on loopback."""
    try:
        url = urlsplit(address if "://" in address else f"tcp://{address}")  # as Dask completes it
    except ValueError as error:
        raise UsageError(f"{address} is not a scheduler; write tls://HOST:PORT") from error
    if url.scheme in ("tls", "wss") or is_loopback(url.hostname or ""):
        return None
    return (
        f"{address} is not encrypted: anyone who reaches this port can run programs as the "
        "workers' user; use tls:// or an ssh tunnel"
    )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_cpus(value: Any) -> Any:
    try:
        return cpus.cpus_of(value) if isinstance(value, str) else value
    except ValueError as error:
        raise must(cpus.NEEDED) from error


def read_host(value: str, info: ValidationInfo) -> str:
    """With a cluster, the name or address of one of its workers."""
    if info.data.get("cluster") is not None:
        if not (value and value.isprintable()) or value.startswith(f"{SCHEME}://"):
            raise must("the name or address of a worker of `placement.cluster`")
        return value
    try:
        host_name(value)
    except ValueError as error:
        raise must(HOST_NEEDED) from error
    return value


def read_clients(value: Any, info: ValidationInfo) -> int | tuple[str, ...]:
    """The number of clients, or their hosts."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= limits.MAX_CLIENTS:
            raise must(f"a whole number from 1 to {limits.MAX_CLIENTS}, or hosts")
        return value
    found = keys.listed(value)
    if not all(isinstance(host, str) for host in found):
        raise must(f"{HOST_NEEDED}, or the number of clients")
    return keys.once(tuple(read_host(host, info) for host in found))


Cpus = Annotated[
    keys.Many[Annotated[int, keys.whole(0, limits.MAX_CPU)]],
    BeforeValidator(read_cpus),
    AfterValidator(lambda found: tuple(sorted(found))),
]
Host = Annotated[str, keys.Must(HOST_NEEDED), AfterValidator(read_host)]


class PlacementTable(keys.TomlTable):
    placement: Annotated[str, keys.one_of(limits.PLACEMENTS)] = Field(default="auto", alias="kind")
    server_cpus: Cpus | None = None
    client_cpus: Cpus | None = None
    network: Annotated[str, keys.one_of(limits.NETWORKS)] = limits.NETWORKS[0]
    engine: Annotated[str, keys.one_of(limits.CONTAINER_ENGINES)] | None = None
    """None: the first one that works."""
    cluster: Annotated[str, keys.Must(CLUSTER_NEEDED, is_scheduler)] | None = None
    """The scheduler of a Dask cluster, whose workers are the hosts."""
    server: Host | None = None
    """The server's host."""
    clients: Annotated[int | tuple[str, ...], PlainValidator(read_clients)] = 1
    """Number of clients that share the load, or their hosts."""
    address: keys.Text | None = None
    """The server's address for its clients; None: the one at which the lab reaches it."""
    steering: Annotated[str, keys.one_of(limits.STEERINGS)] = limits.STEERINGS[0]

    def mistakes(self) -> Iterator[tuple[str, str]]:
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
        places = named if self.cluster else [host_name(host).place for host in named]
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
