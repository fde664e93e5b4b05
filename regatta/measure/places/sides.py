"""Where both sides of a race run, and the offsets of their clocks."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from regatta.errors import CpuError
from regatta.measure.accounts import whole_cpu
from regatta.measure.accounts.whole_cpu import WholeCpu
from regatta.measure.network.steering import Steering
from regatta.measure.places.side import SidePlacement
from regatta.measure.programs import Programs
from regatta.record.study.cpus import cpu_list
from regatta.record.study.limits import BRIDGE, HOST, LOOPBACK


@dataclass(frozen=True)
class ClockOffset:
    """The offset of a client's clock from the server host's."""

    ns: int = 0
    """How far it is ahead."""
    bound_ns: int = 0
    """The largest error of `ns`, in either direction."""


SAME = ClockOffset()
"""For a client on the server's host."""


SOON_NS = 20_000_000


@dataclass(frozen=True)
class ContainerWish:
    network: str = BRIDGE
    engine: str | None = None
    """None: the first one that works."""
    images: tuple[str, ...] = ()
    dial: Path | None = None
    """`regatta-dial`, which connects our programs to the lab."""
    folder: Path | None = None
    """The study's folder, which contenders may use."""


@dataclass(frozen=True)
class HostsWish:
    """The hosts that a race asks for, as named in its study."""

    server: str
    clients: tuple[str, ...]
    address: str | None = None
    """The server's address for its clients; None: the one at which the lab reaches it."""
    cluster: str | None = None
    """The scheduler of the user's Dask cluster, whose workers the sides name; None: ssh."""


Wish = ContainerWish | HostsWish


def check_cpus(
    option: str, named: Sequence[int] | None, allowed: Sequence[int], where: str
) -> None:
    """CpuError if a CPU is named that a program may not use there."""
    if missing := sorted(set(named or ()) - set(allowed)):
        raise CpuError(
            f"{option} names CPU {cpu_list(missing)}, which does not exist or is not allowed "
            f"{where}; allowed: {cpu_list(allowed)}"
        )


def share_cpus(cpus: Sequence[int], count: int) -> list[tuple[int, ...]]:
    """Divides the CPUs among `count` clients; with fewer CPUs than clients, each has one CPU."""
    if len(cpus) < count:
        return [(cpus[number % len(cpus)],) for number in range(count)]
    return [tuple(cpus[number::count]) for number in range(count)]


def count_cpus(sides: Sequence[SidePlacement]) -> int:
    return len({(side.name, cpu) for side in sides for cpu in side.cpus})


@dataclass
class Placement(AbstractContextManager["Placement"]):
    """Where both sides run. Close it to remove their networks."""

    kind: str
    note: str | None
    server: SidePlacement
    client: SidePlacement
    """The whole client side; several clients share its CPUs."""
    server_address: str
    rootless: bool = False
    steering: Steering = Steering()
    sleep_source: str = whole_cpu.STAT
    holders: list[subprocess.Popen[bytes]] = field(default_factory=list)
    network_of: int | str = "self"
    """A process within the server's network."""
    network: str | None = None
    """The kind of network, where a placement offers several."""
    client_count: int = 1

    def close(self) -> None:
        """Ends the holders, which removes their namespaces and devices."""
        for holder in self.holders:
            with suppress(OSError):
                if holder.stdin:
                    holder.stdin.close()
            holder.kill()
            holder.wait()
            if holder.stdout:
                holder.stdout.close()
        self.holders.clear()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def clients(self) -> tuple[SidePlacement, ...]:
        if self.client_count == 1:
            return (self.client,)
        shares = share_cpus(self.client.cpus, self.client_count)
        return tuple(replace(self.client, cpus=share) for share in shares)

    @property
    def hosts(self) -> tuple[SidePlacement, ...]:
        """One side on each host, the server's first."""
        by_name = {side.name: side for side in (*self.clients, self.server)}
        return tuple(by_name[name] for name in dict.fromkeys((self.server.name, *by_name)))

    @property
    def on_one_host(self) -> bool:
        return self.client.name == self.server.name

    def offsets(self) -> list[ClockOffset]:
        return [SAME] * self.client_count

    def soon_ns(self) -> int:
        """A start time by the server's clock that leaves enough time to tell all clients."""
        return time.monotonic_ns() + SOON_NS

    def cpus(self) -> tuple[int, ...]:
        """The CPUs of both sides on one host."""
        return tuple(sorted({*self.server.cpus, *self.client.cpus}))

    @property
    def cpu_count(self) -> int:
        """How many CPUs both sides have; a shared one counts once."""
        return count_cpus((self.server, *self.clients))

    @property
    def client_cpu_count(self) -> int:
        return count_cpus(self.clients)

    @property
    def cpus_overlap(self) -> bool:
        return self.cpu_count < len(self.server.cpus) + self.client_cpu_count

    @property
    def off_cpus(self) -> tuple[int, ...]:
        """The server's CPUs if they are on the client's host: the client's perf avoids them."""
        return self.server.cpus if self.on_one_host else ()

    def watched_by(self, side: SidePlacement) -> WholeCpu:
        """The CPUs that are read on this side's host.

        If both sides share one host, the server's side reads the CPUs of both.
        """
        if side is self.server:
            client = self.client.cpus if self.on_one_host else ()
            return WholeCpu(self.sleep_source, side.cpus, client)
        return WholeCpu(self.sleep_source, client=() if self.on_one_host else side.cpus)

    def access(self) -> list[str]:
        """Options of our server that let every client ask, if its network is private.

        Allowing all addresses makes the server check none, so access control costs nothing in a
        race.
        """
        return ["--allow", "0.0.0.0/0,::/0", "--no-token"] if self.is_private else []

    @property
    def is_private(self) -> bool:
        """Whether the server's network holds nothing but the two sides."""
        return self.kind != LOOPBACK and self.network != HOST

    @property
    def text(self) -> str:
        return self.kind + self.several

    @property
    def several(self) -> str:
        """How many clients share the load; empty if there is one."""
        return f", {self.client_count} clients" if self.client_count > 1 else ""

    def programs(self, found: Programs) -> Programs:
        """The programs by their paths on the sides' hosts."""
        return found

    def need(self) -> None:
        """PlacementError if a host was lost: its failures must not count as the contender's."""

    def missing(self, programs: Programs) -> dict[str, str]:
        """Designs that run on this machine but not in this placement, and why."""
        del programs
        return {}

    def describe(self) -> dict[str, object]:
        """For the environment in the ledger."""
        return {
            "kind": self.kind,
            "rootless": self.rootless,
            "note": self.note,
            "server_address": self.server_address,
            "server_cpus": list(self.server.cpus),
            "client_cpus": list(self.client.cpus),
            "clients": self.client_count,
            "control_groups": self.server.groups is not None,
            **self.steering.describe(),
            "whole_cpu": self.watched_by(self.server).describe(),
        }
