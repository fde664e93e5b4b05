"""`containers`: the programs of each side run in containers of podman or docker.

As in a pod, a small container holds each side's network, and every program of a trial gets a fresh
container in that network and on the side's CPUs. The kinds of network: `bridge`, the engine's own;
`veth`, a veth pair as in `netns` instead of the engine's; `host`, the machine's.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import Any

from regatta.errors import PlacementError
from regatta.measure.accounts import cgroup, whole_cpu
from regatta.measure.network import steering, veth
from regatta.measure.places.containers.engine import (
    IMAGE,
    Engine,
    find_engine,
    make_image,
    mount,
    need_image,
)
from regatta.measure.places.containers.program import ContainerSide, boxed
from regatta.measure.places.containers.reaper import Reaper, sweep
from regatta.measure.places.sides import ContainerWish, Placement
from regatta.measure.programs import Programs, need_tool, parse_designs
from regatta.record.study.limits import BRIDGE, CONTAINERS, HOST, VETH

ENGINE_NETWORKS = {BRIDGE: "bridge", VETH: "none"}
"""The engine's name for the network of a holding container."""
LOOPBACK_ADDRESS = "127.0.0.1"


@dataclass(kw_only=True)
class ContainerPlacement(Placement):
    server: ContainerSide
    client: ContainerSide
    engine: Engine
    leash: Reaper

    @property
    def text(self) -> str:
        return f"{self.kind} ({self.engine.text}, network {self.network}){self.several}"

    def missing(self, programs: Programs) -> dict[str, str]:
        """The engine's seccomp filter may forbid system calls that a design needs."""
        server, name = programs.server.absolute(), self.leash.name()
        command = [str(server), "--list-designs", "--json"]
        designs = parse_designs(self.engine.run(*boxed(self.server, name, command, mount(server))))
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
            "image": IMAGE,
        }


def place_in_containers(
    server_cpus: tuple[int, ...], client_cpus: tuple[int, ...], steered: str, wish: ContainerWish
) -> Placement:
    if os.geteuid() != 0:
        raise PlacementError(
            "only root may count what runs in containers; run as root, or use --placement netns"
        )
    engine = find_engine(wish.engine)
    sweep(engine)
    for image in wish.images:
        need_image(engine, image)
    make_image(engine)
    leash = Reaper(engine)
    side = ContainerSide(
        enter=(),
        cpus=server_cpus,
        engine=engine,
        leash=leash,
        network=ENGINE_NETWORKS.get(wish.network, wish.network),
        mounts=() if wish.folder is None else (wish.folder,),
        dial=wish.dial,
    )
    placement = ContainerPlacement(
        kind=CONTAINERS,
        note=None,
        server=side,
        client=replace(side, cpus=client_cpus),
        server_address=LOOPBACK_ADDRESS,
        sleep_source=whole_cpu.find_source(),
        network=wish.network,
        engine=engine,
        leash=leash,
    )
    try:
        if wish.network == HOST:
            placement.steering = steering.on_loopback(steered)
        else:
            hold_networks(placement, steered)
    except BaseException:
        placement.close()
        raise
    groups = cgroup.find_home()
    placement.server = replace(placement.server, groups=groups)
    placement.client = replace(placement.client, groups=groups)
    return placement


def hold_networks(placement: ContainerPlacement, steered: str) -> None:
    """Starts two containers that only hold a network, like the namespaces of `netns`."""
    placement.server, server_pid = hold(placement, placement.server)
    placement.client, client_pid = hold(placement, placement.client)
    placement.network_of = server_pid
    veth.widen_ports(placement.client.enter)
    sides = {
        "server": (placement.server.enter, placement.server.cpus),
        "client": (placement.client.enter, placement.client.cpus),
    }
    if placement.network == VETH:
        veth.join(placement.server.enter, placement.client.enter, client_pid)
        placement.server_address = veth.SERVER_ADDRESS
        placement.steering = steering.steer(steered, sides)
        return
    device, placement.server_address = address_in(placement.server)
    placement.steering = steering.steer(steered, sides, device)


def hold(placement: ContainerPlacement, side: ContainerSide) -> tuple[ContainerSide, int]:
    """The side with its own network, and the id of a process within it."""
    name = side.leash.name()
    words = boxed(side, name, ["/usr/bin/cat"], ["--interactive"])
    try:
        placement.holders.append(veth.start_holder(side.engine.command(*words), ()))
    except PlacementError as error:
        raise PlacementError(f"{side.engine.name}: {error}") from error
    pid = int(side.engine.run("inspect", "--format", "{{.State.Pid}}", name))
    nsenter = need_tool("nsenter", "util-linux")
    enter = (nsenter, "--net", "--target", str(pid), "--")
    return replace(side, enter=enter, network=f"container:{name}"), pid


def address_in(side: ContainerSide) -> tuple[str, str]:
    """The device and IPv4 address of a side's network."""
    ip = need_tool("ip", "iproute2")
    links: list[dict[str, Any]] = json.loads(
        veth.run_tool([*side.enter, ip, "-j", "-4", "address", "show", "scope", "global"])
    )
    for link in links:
        for address in link.get("addr_info", ()):
            veth.wait_link_up(side.enter, ip, link["ifname"])
            return link["ifname"], address["local"]
    raise PlacementError(f"{side.engine.name} gave its containers no IPv4 address")
