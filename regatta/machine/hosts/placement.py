"""`hosts`: each side on a host of its own, where a worker does what is done here elsewhere.

Nothing is laid between the hosts: packets take the way that they have.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from regatta import __version__
from regatta.errors import CpuError, PlacementError
from regatta.ledger.result import CLIENT, SERVER
from regatta.machine import cgroup, link_end, sleep, steering
from regatta.machine.cable import run_tool
from regatta.machine.hosts.engine import Engine
from regatta.machine.hosts.host import Host
from regatta.machine.placed import HOSTS, HostsWish, Placement
from regatta.machine.programs import Programs, discover, need_tool
from regatta.machine.side_placement import SidePlacement
from regatta.machine.whole_cpu import WholeCpu
from regatta.study.cpus import cpu_list
from regatta.study.hosts import host_name

T = TypeVar("T")
P = ParamSpec("P")
ANY_PORT = 9


@dataclass(frozen=True, kw_only=True)
class HostSide(SidePlacement):
    """One side, on another host. What is made here is made there, and called from here."""

    host: Host

    def there(self) -> SidePlacement:
        """What it is on its own host: a side as any other."""
        return SidePlacement((), self.cpus, self.groups)

    def make(
        self, kind: Callable[Concatenate[SidePlacement, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        return cast(T, self.host.make(kind, self.there(), *args, **named))

    def ask(self, question: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        return self.host.ask(question, *args, **named)

    def folder(self, scratch: Path) -> Path:
        return self.host.root / scratch.name


@dataclass(kw_only=True)
class HostPlacement(Placement):
    """Both sides on other hosts."""

    server: HostSide
    client: HostSide
    client_address: str
    """From which the server sees its clients come."""
    engine: Engine
    wish: HostsWish

    @property
    def hosts(self) -> tuple[SidePlacement, ...]:
        return (self.server, self.client)

    @property
    def cpu_count(self) -> int:
        return len(self.server.cpus) + len(self.client.cpus)

    @property
    def cpus_overlap(self) -> bool:
        return False

    @property
    def off_cpus(self) -> tuple[int, ...]:
        return ()

    def watched_by(self, side: str) -> WholeCpu:
        if side == SERVER:
            return WholeCpu(self.sleep_source, server=self.server.cpus)
        return WholeCpu(self.sleep_source, client=self.client.cpus)

    def access(self) -> list[str]:
        """Others may be in this network."""
        return ["--allow", self.client_address, "--no-token"]

    @property
    def text(self) -> str:
        return f"{self.kind} (server {self.server.host}, client {self.client.host})"

    def programs(self, found: Programs) -> Programs:
        """As they lie on the hosts."""
        server, client = (side.ask(discover) for side in self.hosts)
        ours = (found.server_version, found.client_version)
        for side, theirs in ((self.server, server), (self.client, client)):
            if (theirs.server_version, theirs.client_version) != ours:
                raise PlacementError(
                    f"{side.host} has other programs ({theirs.server_version}) than this machine "
                    f"({found.server_version}); build the same version there"
                )
        return replace(server, client=client.client, client_version=client.client_version)

    def missing(self, programs: Programs) -> dict[str, str]:
        return {design.name: design.missing for design in programs.designs if design.missing}

    def need(self) -> None:
        for side in (self.server, self.client):
            if side.host.is_lost:
                raise PlacementError(
                    f"{side.host.lost()}; see that it can be reached (regatta hosts check), then "
                    "continue with --resume"
                )

    def close(self) -> None:
        for side in (self.server, self.client):
            side.host.close()
        self.engine.close()

    def describe(self) -> dict[str, object]:
        sides = {SERVER: self.server, CLIENT: self.client}
        return {
            **super().describe(),
            "client_address": self.client_address,
            "host_names": {name: str(side.host) for name, side in sides.items()},
        }


@dataclass(frozen=True)
class Settled:
    """What a host has."""

    version: str
    cpus: tuple[int, ...]
    groups: cgroup.Home | None
    sleep_source: str


def settle_here(cpus: Sequence[int]) -> Settled:
    """Keeps this worker off the CPUs of its side, if there are others; what else there is."""
    allowed = os.sched_getaffinity(0)
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), allowed - set(cpus) or allowed)
    return Settled(__version__, tuple(cpus), cgroup.find_home(), sleep.find_source())


def settle(host: Host, cpus: Sequence[int]) -> Settled:
    settled = host.ask(settle_here, tuple(cpus))
    if settled.version != __version__:
        raise PlacementError(
            f"{host} has Regatta {settled.version} and this machine {__version__}; install the "
            "same there"
        )
    return settled


def allowed_cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def choose(host: Host, side: str, named: Sequence[int] | None) -> tuple[int, ...]:
    """The CPUs of a side: as named, else one for the server and all but one for the client."""
    allowed = host.ask(allowed_cpus)
    missing = sorted(set(named or ()) - set(allowed))
    if missing:
        raise CpuError(
            f"the {side}'s CPU {cpu_list(missing)} does not exist or is not allowed on {host}; "
            f"allowed: {cpu_list(allowed)}"
        )
    if named:
        return tuple(named)
    return tuple(allowed[:1] if side == SERVER else allowed[1:] or allowed)


def address_towards(there: str) -> str:
    """This host's own, as that one sees it. Nothing is sent."""
    family = socket.AF_INET6 if ":" in there else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as unsent:
        unsent.connect((there, ANY_PORT))
        return str(unsent.getsockname()[0])


def end_towards(there: str) -> dict[str, Any]:
    """The device by which packets go to that host."""
    ip = need_tool("ip", "iproute2")
    (route,) = json.loads(run_tool([ip, "-j", "route", "get", there]))
    return link_end.read_end(route["dev"])


def place_on_hosts(
    server_cpus: Sequence[int] | None, client_cpus: Sequence[int] | None, wish: HostsWish
) -> HostPlacement:
    engine = Engine()
    hosts: list[Host] = []
    try:
        for name in (wish.server, wish.client):
            Host(host_name(name), engine, hosts)
        return place_on(hosts[0], hosts[1], (server_cpus, client_cpus), wish)
    except BaseException:
        for host in hosts:
            host.close()
        engine.close()
        raise


def place_on(
    server: Host,
    client: Host,
    cpus: tuple[Sequence[int] | None, Sequence[int] | None],
    wish: HostsWish,
) -> HostPlacement:
    served = settle(server, choose(server, SERVER, cpus[0]))
    asked = settle(client, choose(client, CLIENT, cpus[1]))
    address = wish.address or server.address
    if not address or address.startswith("127.") or address == "::1":
        raise PlacementError(
            f"ssh does not tell at which address {client} reaches {server}; name it: "
            "`address` in [placement]"
        )
    client_address = client.ask(address_towards, address)
    exact = {served.sleep_source, asked.sleep_source} == {sleep.TIMER_LIST}
    return HostPlacement(
        kind=HOSTS,
        note=None,
        server=HostSide((), served.cpus, served.groups, host=server),
        client=HostSide((), asked.cpus, asked.groups, host=client),
        server_address=f"[{address}]" if ":" in address else address,
        client_address=client_address,
        steering=steering.Steering(
            server=steering.end_of(server.ask(end_towards, client_address)),
            client=steering.end_of(client.ask(end_towards, address)),
        ),
        sleep_source=sleep.TIMER_LIST if exact else sleep.STAT,
        engine=server.engine,
        wish=wish,
    )
