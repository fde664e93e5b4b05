"""Where both sides of a race run, once they are placed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from regatta.machine import sleep
from regatta.machine.clocks import SAME, Offset
from regatta.machine.programs import Programs
from regatta.machine.side_placement import SidePlacement
from regatta.machine.steering import Steering
from regatta.machine.whole_cpu import WholeCpu
from regatta.study import limits

NETNS = "netns"
LOOPBACK = "loopback"
CONTAINERS = limits.CONTAINERS
HOSTS = limits.HOSTS
AUTO = "auto"
BRIDGE, HOST, VETH = limits.NETWORKS
SOON_NS = 20_000_000


@dataclass(frozen=True)
class ContainerWish:
    """What a race wants of its containers."""

    network: str = BRIDGE
    engine: str | None = None
    """None: whichever is there and works."""
    programs: tuple[Path, ...] = ()
    """That shall find their libraries in our image."""
    images: tuple[str, ...] = ()
    """That contenders come in."""
    dial: Path | None = None
    """`regatta-dial`, without which no program of ours can be spoken with."""
    folder: Path | None = None
    """The study's, for its contenders."""


@dataclass(frozen=True)
class HostsWish:
    """Which hosts a race wants, as its study names them."""

    server: str
    clients: tuple[str, ...]
    address: str | None = None
    """Of the server, for its clients; None: as ssh reaches its host."""


Wish = ContainerWish | HostsWish


def share_cpus(cpus: Sequence[int], count: int) -> list[tuple[int, ...]]:
    """So many shares: each CPU in one of them, or each share one CPU, whichever are more."""
    if len(cpus) < count:
        return [(cpus[number % len(cpus)],) for number in range(count)]
    return [tuple(cpus[number::count]) for number in range(count)]


@dataclass
class Placement:
    """Where both sides run. Close it to give their networks back."""

    kind: str
    note: str | None
    server: SidePlacement
    client: SidePlacement
    """The whole side; several clients share its CPUs."""
    server_address: str
    rootless: bool = False
    steering: Steering = Steering()
    """Whose CPUs process what arrives."""
    sleep_source: str = sleep.STAT
    """From which it is read how long a CPU sleeps."""
    holders: list[subprocess.Popen[bytes]] = field(default_factory=list)
    network_of: int | str = "self"
    """A process within the server's network."""
    wish: Wish | None = None
    """None where everything is said without."""
    client_count: int = 1

    def close(self) -> None:
        """Ends the holders; their namespaces and devices go with them."""
        for holder in self.holders:
            with suppress(OSError):
                if holder.stdin:
                    holder.stdin.close()
            holder.kill()
            holder.wait()
            if holder.stdout:
                holder.stdout.close()
        self.holders.clear()

    def __enter__(self) -> Placement:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def hosts(self) -> tuple[SidePlacement, ...]:
        """A side on each of its hosts."""
        return (self.server,)

    @property
    def clients(self) -> tuple[SidePlacement, ...]:
        """One side for each client."""
        if self.client_count == 1:
            return (self.client,)
        shares = share_cpus(self.client.cpus, self.client_count)
        return tuple(replace(self.client, cpus=share) for share in shares)

    def offsets(self) -> list[Offset]:
        """Of the clients' clocks."""
        return [SAME] * self.client_count

    def soon_ns(self) -> int:
        """A moment by the server's clock that all clients can be told of before it comes."""
        return time.monotonic_ns() + SOON_NS

    def cpus(self) -> tuple[int, ...]:
        """Of both sides."""
        return tuple(sorted({*self.server.cpus, *self.client.cpus}))

    @property
    def cpu_count(self) -> int:
        """Of both sides; one that both have counts once."""
        return len(self.cpus())

    @property
    def cpus_overlap(self) -> bool:
        """Whether one side may run on a CPU of the other."""
        return not set(self.server.cpus).isdisjoint(self.client.cpus)

    @property
    def off_cpus(self) -> tuple[int, ...]:
        """The server's, where the client's host has them: perf beside a client avoids them."""
        return self.server.cpus

    @property
    def client_cpu_count(self) -> int:
        """Of all clients."""
        return len(self.client.cpus)

    def watched_by(self, side: SidePlacement) -> WholeCpu:
        """The CPUs that are looked after where this side is.

        Both sides have one host here: it is read once for both, by the server's side.
        """
        if side is not self.server:
            return WholeCpu(self.sleep_source)
        return WholeCpu(self.sleep_source, self.server.cpus, self.client.cpus)

    def access(self) -> list[str]:
        """Options of our server: in a network of ours alone, whoever can reach it may ask.

        All addresses are allowed, so that none is looked at: what is raced costs what it cost
        before there was anything to allow.
        """
        if not self.is_private:
            return []
        return ["--allow", "0.0.0.0/0,::/0", "--no-token"]

    @property
    def is_private(self) -> bool:
        """Whether the server is in a network that nobody else is in."""
        return self.kind != LOOPBACK

    @property
    def network(self) -> str | None:
        """Which of several that this kind of place knows."""
        return None

    @property
    def text(self) -> str:
        """Where it is, in few words."""
        return self.kind + self.several

    @property
    def several(self) -> str:
        """How many clients share the load, if it is not one."""
        return f", {self.client_count} clients" if self.client_count > 1 else ""

    def programs(self, found: Programs) -> Programs:
        """Where they lie for the sides, if not where they were found here."""
        return found

    def need(self) -> None:
        """PlacementError if it was lost: what would fail there says nothing of its contender."""

    def missing(self, programs: Programs) -> dict[str, str]:
        """Designs that run on this machine and cannot here, and why."""
        del programs
        return {}

    def describe(self) -> dict[str, object]:
        """What the ledger's environment says about it."""
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
