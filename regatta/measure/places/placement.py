"""Places the two sides: their networks and CPUs.

`netns` joins two network namespaces with a veth pair, as root or within a user namespace. The
namespaces are unnamed: each exists as long as a process that holds it. The holder reads from a pipe
that closes when the lab ends for any reason.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from regatta.errors import CpuError, PlacementError, UsageError
from regatta.measure.accounts import cgroup, whole_cpu
from regatta.measure.network import steering
from regatta.measure.network.veth import SERVER_ADDRESS, join, start_holder, widen_ports
from regatta.measure.places.containers.placement import place_in_containers
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import ContainerWish, HostsWish, Placement, Wish, check_cpus
from regatta.measure.programs import need_tool
from regatta.record.study.cpus import cpu_list, cpus_of
from regatta.record.study.limits import CONTAINERS, HOSTS, LOOPBACK, NETNS, OWN_SIDE


def siblings(cpu: int) -> set[int]:
    """The CPUs that share a core with this one, itself included."""
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return {cpu, *cpus_of(path.read_text())}
    except (OSError, ValueError):
        return {cpu}


def choose_cpus(
    server: Sequence[int] | None,
    client: Sequence[int] | None,
    allowed: Sequence[int],
    share_core: Callable[[int], set[int]] = siblings,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The CPUs of the two sides: as named, else one for the server and the others for the client.

    SMT siblings of the server's core stay idle if the client has other CPUs: a busy sibling slows
    the server down.
    """
    check_cpus("--server-cpus", server, allowed, "here")
    check_cpus("--client-cpus", client, allowed, "here")
    if server and client:
        return tuple(server), tuple(client)
    if len(allowed) < 2:
        raise CpuError(
            f"there is only one CPU ({cpu_list(allowed)}), and the two sides would disturb each "
            f"other; to race anyway: --server-cpus {cpu_list(allowed)} "
            f"--client-cpus {cpu_list(allowed)}"
        )
    if not server:
        free = [cpu for cpu in sorted(allowed) if cpu not in (client or ())]
        server = free[:1]
    if not client:
        free = [cpu for cpu in sorted(allowed) if cpu not in server]
        same_cores = set().union(*(share_core(cpu) for cpu in server))
        client = [cpu for cpu in free if cpu not in same_cores] or free
    if not server or not client:
        raise CpuError(
            "no CPU is left for the other side; name both: --server-cpus and --client-cpus "
            f"(allowed: {cpu_list(allowed)})"
        )
    return tuple(server), tuple(client)


FEW_CPUS = 4


def halves(
    allowed: Sequence[int], share_core: Callable[[int], set[int]] = siblings
) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Half of the cores for the server and half for the client; None: too few for that."""
    cores = sorted({tuple(sorted(share_core(cpu) & {*allowed})) for cpu in allowed})
    if len(allowed) <= FEW_CPUS or len(cores) < 2:
        return None, None
    parts = cores[: len(cores) // 2], cores[len(cores) // 2 :]
    server, client = (tuple(sorted(cpu for core in part for cpu in core)) for part in parts)
    return server, client


def first_cpus(
    cpus: Sequence[int], count: int, share_core: Callable[[int], set[int]] = siblings
) -> tuple[int, ...]:
    """So many of them, of as many cores as possible."""
    ranked = sorted(cpus, key=lambda cpu: (sorted(share_core(cpu)).index(cpu), cpu))
    return tuple(sorted(ranked[:count]))


def place_in_namespaces(
    server_cpus: tuple[int, ...], client_cpus: tuple[int, ...], steered: str
) -> Placement:
    """Gives each side a network namespace of its own."""
    unshare = need_tool("unshare", "util-linux")
    nsenter = need_tool("nsenter", "util-linux")
    rootless = os.geteuid() != 0
    user = ["--user", "--map-root-user"] if rootless else []
    join_user = ["--user", "--preserve-credentials"] if rootless else []
    holders: list[subprocess.Popen[bytes]] = []
    placement = Placement(
        kind=NETNS,
        note=None,
        server=SidePlacement((), server_cpus),
        client=SidePlacement((), client_cpus),
        server_address=SERVER_ADDRESS,
        rootless=rootless,
        sleep_source=whole_cpu.find_source(),
        holders=holders,
    )
    try:
        holders.append(start_holder([unshare, *user, "--net", "--"]))
        within = [nsenter, *join_user, "--target", str(holders[0].pid), "--"] if rootless else []
        holders.append(start_holder([*within, unshare, "--net", "--"]))
        placement.network_of = holders[0].pid
        enter_server, enter_client = (
            (nsenter, *join_user, "--net", "--target", str(holder.pid), "--") for holder in holders
        )
        join(enter_server, enter_client, holders[1].pid)
        widen_ports(enter_client)
        placement.steering = steering.steer(
            steered,
            {"server": (enter_server, server_cpus), "client": (enter_client, client_cpus)},
        )
    except BaseException:
        placement.close()
        raise
    groups = cgroup.find_home()
    placement.server = SidePlacement(enter_server, server_cpus, groups)
    placement.client = SidePlacement(enter_client, client_cpus, groups)
    return placement


def place_on_loopback(
    server_cpus: tuple[int, ...], client_cpus: tuple[int, ...], steered: str, note: str | None
) -> Placement:
    groups = cgroup.find_home()
    return Placement(
        kind=LOOPBACK,
        note=note,
        server=SidePlacement((), server_cpus, groups),
        client=SidePlacement((), client_cpus, groups),
        server_address="127.0.0.1",
        steering=steering.on_loopback(steered),
        sleep_source=whole_cpu.find_source(),
    )


def make_placement(
    kind: str,
    server_cpus: Sequence[int] | None,
    client_cpus: Sequence[int] | None,
    steered: str = OWN_SIDE,
    wish: Wish | None = None,
) -> Placement:
    """Places the two sides as asked; `auto` uses namespaces where they are permitted."""
    if isinstance(wish, HostsWish):
        # Only here, as Dask is optional and slow to import.
        from regatta.measure.places.hosts.placement import place_on_hosts  # noqa: PLC0415

        return place_on_hosts(server_cpus, client_cpus, wish)
    server, client = choose_cpus(server_cpus, client_cpus, sorted(os.sched_getaffinity(0)))
    if kind == LOOPBACK:
        return place_on_loopback(server, client, steered, None)
    if kind == CONTAINERS:
        return place_in_containers(server, client, steered, wish or ContainerWish())
    if kind == HOSTS:
        raise PlacementError(
            'the study names no hosts; add `server` and `clients` to [placement] kind = "hosts"'
        )
    try:
        return place_in_namespaces(server, client, steered)
    except (PlacementError, UsageError) as error:
        if kind == NETNS:
            raise PlacementError(
                f"network namespaces are not permitted here ({error}); run as root, allow user "
                "namespaces, or use --placement loopback"
            ) from error
        note = f"network namespaces are not permitted here ({error}): on loopback"
        return place_on_loopback(server, client, steered, note)
