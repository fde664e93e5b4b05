"""`hosts`: each side on its own host, where a worker starts and measures its program. The network
between the hosts is used as it is.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

from regatta import __version__
from regatta.errors import PlacementError
from regatta.measure.accounts import cgroup, whole_cpu
from regatta.measure.network import steering
from regatta.measure.places.hosts.cluster_host import UserCluster
from regatta.measure.places.hosts.host import Host, RemoteObject, TaskEngine
from regatta.measure.places.hosts.peers import ClockServer, ask_clock, end_towards
from regatta.measure.places.hosts.ssh_host import DaskCluster
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import SAME, ClockOffset, HostsWish, Placement, check_cpus
from regatta.measure.programs import Programs, discover
from regatta.record.records import CLIENT, SERVER
from regatta.record.study.limits import HOSTS
from regatta.record.study.placement import cluster_risk, is_loopback

T = TypeVar("T")
P = ParamSpec("P")
ANY_PORT = 9
SOON_NS = 250_000_000
"""Time to tell all clients the start time; one that learns it later starts late and reports it."""


@dataclass(frozen=True, kw_only=True)
class HostSide(SidePlacement):
    """One side on another host. Objects are created there and called from here."""

    host: Host

    @property
    def name(self) -> str:
        return str(self.host)

    def make(
        self, kind: Callable[Concatenate[SidePlacement, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        as_seen_there = SidePlacement((), self.cpus, self.groups)
        return cast(T, self.host.make(kind, as_seen_there, *args, **named))

    def ask(self, question: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        return self.host.ask(question, *args, **named)

    def folder(self, scratch: Path) -> Path:
        return self.host.root / scratch.name


@dataclass(kw_only=True)
class HostPlacement(Placement):
    server: HostSide
    client: HostSide
    """The first client, which represents all where only one can be described."""
    all_clients: tuple[HostSide, ...]
    client_addresses: tuple[str, ...]
    """The clients' addresses as the server sees them."""
    address: str
    engine: TaskEngine
    clock: RemoteObject | None = None
    """Serves the clock of the server's host, if there are several clients."""
    server_ahead_ns: int = 0
    """How far the server's clock is ahead of the lab's, to one round trip; only for start times."""

    @property
    def sides(self) -> tuple[HostSide, ...]:
        return (self.server, *self.all_clients)

    @property
    def clients(self) -> tuple[SidePlacement, ...]:
        return self.all_clients

    def offsets(self) -> list[ClockOffset]:
        if len(self.all_clients) == 1:
            return [SAME]
        if self.clock is None:
            self.clock = self.server.host.make(ClockServer, self.address, self.client_addresses)
        port = self.clock.port()
        # Now, as within a window nothing is said to the server's host.
        here_ns = time.monotonic_ns()
        self.server_ahead_ns = self.server.ask(time.monotonic_ns) - here_ns
        return [client.ask(ask_clock, self.address, port) for client in self.all_clients]

    def soon_ns(self) -> int:
        return time.monotonic_ns() + self.server_ahead_ns + SOON_NS

    def access(self) -> list[str]:
        """Allows only the clients, as other machines may be in this network."""
        return ["--allow", ",".join(self.client_addresses), "--no-token"]

    @property
    def text(self) -> str:
        names = ", ".join(client.name for client in self.all_clients)
        clients = "client" if len(self.all_clients) == 1 else "clients"
        return f"{self.kind} (server {self.server.host}, {clients} {names})"

    def programs(self, found: Programs) -> Programs:
        there = [side.ask(discover) for side in self.sides]
        ours = (found.server_version, found.client_version)
        for side, theirs in zip(self.sides, there, strict=True):
            if (theirs.server_version, theirs.client_version) != ours:
                raise PlacementError(
                    f"{side.host} has other versions of the programs ({theirs.server_version}) "
                    f"than this machine ({found.server_version}); build the same version there"
                )
        server, client, *others = there
        if any(other.client != client.client for other in others):
            raise PlacementError(
                "the clients' hosts have Regatta in different folders; use the same folder on all, "
                "and name it in the study: ssh://HOST/FOLDER"
            )
        return replace(server, client=client.client, client_version=client.client_version)

    def missing(self, programs: Programs) -> dict[str, str]:
        return {design.name: design.missing for design in programs.designs if design.missing}

    def need(self) -> None:
        for side in self.sides:
            if side.host.is_lost:
                raise PlacementError(
                    f"{side.host.lost()}; check that it can be reached (regatta doctor STUDY), "
                    "then continue with --resume"
                )

    def close(self) -> None:
        self.engine.close()

    def describe(self) -> dict[str, object]:
        return {
            **super().describe(),
            "client_addresses": list(self.client_addresses),
            "host_names": {
                SERVER: str(self.server.host),
                "clients": [client.name for client in self.all_clients],
            },
        }


@dataclass(frozen=True)
class Settled:
    """What the lab needs to know about a host."""

    version: str
    cpus: tuple[int, ...]
    groups: cgroup.Home | None
    sleep_source: str


def settle_here(side: str, named: Sequence[int] | None) -> Settled:
    """Chooses the CPUs of a side: as named, else one for the server and all but one for the client.
    Moves this worker off them, if there are others."""
    allowed = sorted(os.sched_getaffinity(0))
    check_cpus(f"--{side}-cpus", named, allowed, "there")
    cpus = tuple(named or (allowed[:1] if side == SERVER else allowed[1:] or allowed))
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), set(allowed) - set(cpus) or allowed)
    return Settled(__version__, cpus, cgroup.find_home(), whole_cpu.find_source())


def settle(host: Host, side: str, named: Sequence[int] | None) -> Settled:
    settled = host.ask(settle_here, side, named)
    if settled.version != __version__:
        raise PlacementError(
            f"{host} has Regatta {settled.version} and this machine {__version__}; install the "
            "same version there"
        )
    return settled


def address_towards(there: str) -> str:
    """This host's address as the other host sees it. Nothing is sent."""
    family = socket.AF_INET6 if ":" in there else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as unsent:
        unsent.connect((there, ANY_PORT))
        return str(unsent.getsockname()[0])


def address_of_client(client: Host, server: Host, address: str) -> str:
    seen = client.ask(address_towards, address)
    if seen == address and not is_loopback(address):
        raise PlacementError(
            f"{client} has the address {address} too, at which the lab reaches {server}; set "
            f"`address` in [placement] to one at which {client} reaches {server}"
        )
    return seen


def engine_for(wish: HostsWish) -> TaskEngine:
    return DaskCluster() if wish.cluster is None else UserCluster(wish.cluster)


def place_on_hosts(
    server_cpus: Sequence[int] | None, client_cpus: Sequence[int] | None, wish: HostsWish
) -> HostPlacement:
    engine = engine_for(wish)
    try:
        for name in (wish.server, *wish.clients):
            engine.reach(name)
        return place_on(engine, server_cpus, client_cpus, wish)
    except BaseException:
        engine.close()
        raise


def place_on(
    engine: TaskEngine,
    server_cpus: Sequence[int] | None,
    client_cpus: Sequence[int] | None,
    wish: HostsWish,
) -> HostPlacement:
    server, *clients = engine.hosts
    served = settle(server, SERVER, server_cpus)
    asked = [settle(client, CLIENT, client_cpus) for client in clients]
    address = wish.address or server.address
    if not address or is_loopback(address):
        raise PlacementError(
            f"the address at which {clients[0]} reaches {server} is unknown; set `address` in "
            "[placement]"
        )
    seen = tuple(address_of_client(client, server, address) for client in clients)
    exact = {host.sleep_source for host in (served, *asked)} == {whole_cpu.TIMER_LIST}
    sides = tuple(
        HostSide((), settled.cpus, settled.groups, host=client)
        for settled, client in zip(asked, clients, strict=True)
    )
    return HostPlacement(
        kind=HOSTS,
        note=None if wish.cluster is None else cluster_risk(wish.cluster),
        server=HostSide((), served.cpus, served.groups, host=server),
        client=sides[0],
        all_clients=sides,
        client_count=len(sides),
        server_address=f"[{address}]" if ":" in address else address,
        address=address,
        client_addresses=seen,
        steering=steering.Steering(
            server=server.ask(end_towards, seen[0]),
            client=clients[0].ask(end_towards, address),
        ),
        sleep_source=whole_cpu.TIMER_LIST if exact else whole_cpu.STAT,
        engine=engine,
    )
