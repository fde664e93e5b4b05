"""`containers`: each side in containers of its own, by podman or docker.

As in a pod, a small container holds each side's network, and every program of a trial gets a fresh
container within that network and on the side's CPUs. The networks: `bridge`, the engine's own;
`veth`, none of the engine's but a cable between the two, as in `netns`; `host`, the machine's.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regatta.errors import PlacementError
from regatta.machine import cable, cgroup, sleep, steering
from regatta.machine.containers.engine import Engine, find_engine
from regatta.machine.containers.image import has_image, make_image
from regatta.machine.containers.leash import Leash, sweep
from regatta.machine.containers.line import DialledLine
from regatta.machine.containers.program import ContainerProgram, box, mount
from regatta.machine.line import Line
from regatta.machine.placed import BRIDGE, CONTAINERS, HOST, VETH, ContainerWish, Placement
from regatta.machine.programs import Programs, need_tool, parse_designs
from regatta.machine.side_placement import SidePlacement
from regatta.machine.started import Order, Started

ENGINE_NETWORKS = {BRIDGE: "bridge", VETH: "none"}
"""What the engine calls the network of a container that holds one."""
LOOPBACK_ADDRESS = "127.0.0.1"
NO_WHOLE = (
    "an engine starts a program where perf cannot count it from its first instruction: "
    'scope = "process" is not for containers'
)


@dataclass(frozen=True, kw_only=True)
class ContainerSide(SidePlacement):
    """One side: the network that its containers share, and what they are made from."""

    engine: Engine
    leash: Leash
    network: str
    """What the engine calls it: `host`, `bridge`, `none`, `container:NAME`."""
    image: str
    mounts: tuple[Path, ...] = ()
    dial: Path | None = None

    @property
    def label(self) -> str:
        return self.leash.label

    def start(self, order: Order) -> Started:
        if order.whole:
            raise PlacementError(NO_WHOLE)
        return ContainerProgram(self, order, self.leash.name())

    def line(self, folder: Path, name: str) -> Line:
        if self.dial is None:
            raise PlacementError("regatta-dial was not found; run `make build`")
        return DialledLine(folder, name, self.dial)


@dataclass(kw_only=True)
class ContainerPlacement(Placement):
    """Both sides in containers."""

    server: ContainerSide
    client: ContainerSide
    engine: Engine
    leash: Leash
    image: str
    wish: ContainerWish

    @property
    def network(self) -> str:
        return self.wish.network

    @property
    def is_private(self) -> bool:
        return self.network != HOST

    @property
    def text(self) -> str:
        return f"{self.kind} ({self.engine.text}, network {self.network}){self.several}"

    def missing(self, programs: Programs) -> dict[str, str]:
        """An engine's filter of system calls may forbid what a design is made of."""
        server, name = programs.server.absolute(), self.leash.name()
        words = ["run", *box(self.server, name), *mount(server, read_only=True)]
        words += ["--entrypoint", str(server), self.image, "--list-designs", "--json"]
        designs = parse_designs(self.engine.run(*words))
        return {design.name: design.missing for design in designs if design.missing}

    def close(self) -> None:
        try:
            super().close()
        finally:
            self.leash.close()

    def describe(self) -> dict[str, object]:
        return {
            **super().describe(),
            "engine": self.engine.name,
            "engine_version": self.engine.version,
            "runtime": self.engine.runtime,
            "network": self.network,
            "image": self.image,
        }


def place_in_containers(
    server_cpus: tuple[int, ...], client_cpus: tuple[int, ...], steered: str, wish: ContainerWish
) -> Placement:
    if os.geteuid() != 0:
        raise PlacementError(
            "containers are raced by root alone, who may count what runs in them; run as root, or "
            "use --placement netns"
        )
    engine = find_engine(wish.engine)
    sweep(engine)
    for image in wish.images:
        if not has_image(engine, image):
            raise PlacementError(
                f"{engine.name} has no image {image}; {engine.name} pull {image}, or build it"
            )
    cat = Path(need_tool("cat", "coreutils"))
    dial = () if wish.dial is None else (wish.dial,)
    image = make_image(engine, (*wish.programs, *dial), (cat,))
    leash = Leash(engine)
    side = ContainerSide(
        enter=(),
        cpus=server_cpus,
        engine=engine,
        leash=leash,
        network=ENGINE_NETWORKS.get(wish.network, wish.network),
        image=image,
        mounts=() if wish.folder is None else (wish.folder,),
        dial=wish.dial,
    )
    placement = ContainerPlacement(
        kind=CONTAINERS,
        note=None,
        server=side,
        client=replace(side, cpus=client_cpus),
        server_address=LOOPBACK_ADDRESS,
        sleep_source=sleep.find_source(),
        wish=wish,
        engine=engine,
        leash=leash,
        image=image,
    )
    try:
        if wish.network == HOST:
            placement.steering = steering.on_loopback(steered)
        else:
            hold_networks(placement, steered, cat)
    except BaseException:
        placement.close()
        raise
    groups = cgroup.find_home()
    placement.server = replace(placement.server, groups=groups)
    placement.client = replace(placement.client, groups=groups)
    return placement


def hold_networks(placement: ContainerPlacement, steered: str, cat: Path) -> None:
    """Two containers that do nothing but hold a network, in place of the namespaces of `netns`."""
    placement.server, server_pid = hold(placement, placement.server, cat)
    placement.client, client_pid = hold(placement, placement.client, cat)
    placement.network_of = server_pid
    sides = {"server": placement.server, "client": placement.client}
    if placement.network == VETH:
        cable.join(placement.server.enter, placement.client.enter, client_pid)
        placement.server_address = cable.SERVER_ADDRESS
        placement.steering = steering.steer(steered, sides)
        return
    device, placement.server_address = address_in(placement.server)
    placement.steering = steering.steer(steered, sides, device)


def hold(
    placement: ContainerPlacement, side: ContainerSide, cat: Path
) -> tuple[ContainerSide, int]:
    """The side with a network of its own, and a process within it."""
    name = side.leash.name()
    words = ["run", "--interactive", *box(side, name), "--entrypoint", str(cat), side.image]
    try:
        placement.holders.append(cable.start_holder(side.engine.command(*words), ()))
    except PlacementError as error:
        raise PlacementError(f"{side.engine.name}: {error}") from error
    pid = int(side.engine.run("inspect", "--format", "{{.State.Pid}}", name))
    nsenter = need_tool("nsenter", "util-linux")
    enter = (nsenter, "--net", "--target", str(pid), "--")
    return replace(side, enter=enter, network=f"container:{name}"), pid


def address_in(side: ContainerSide) -> tuple[str, str]:
    """The device of a side's network, and its address."""
    ip = need_tool("ip", "iproute2")
    links: list[dict[str, Any]] = json.loads(
        cable.run_tool([*side.enter, ip, "-j", "-4", "address", "show", "scope", "global"])
    )
    for link in links:
        for address in link.get("addr_info", ()):
            cable.wait_link_up(side.enter, ip, link["ifname"])
            return link["ifname"], address["local"]
    raise PlacementError(f"{side.engine.name} gave its containers no IPv4 address")
