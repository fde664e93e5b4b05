"""Where the two sides run: in which network, on which CPUs, and by which commands.

`netns`: two network namespaces joined by a pair of virtual Ethernet devices; as root, or within a
user namespace without. The namespaces have no names: each lives as long as a process that holds it,
which reads from a pipe that closes when the lab ends, however it ends.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regatta.errors import CpuError, PlacementError, UsageError
from regatta.machine import cgroup, sleep, steering
from regatta.machine.programs import need_tool
from regatta.machine.side_placement import SidePlacement
from regatta.machine.steering import Steering
from regatta.machine.whole_cpu import WholeCpu
from regatta.study.cpus import cpu_list, cpus_of

NETNS = "netns"
LOOPBACK = "loopback"
AUTO = "auto"

# 198.18.0.0/15 is set aside for measuring network devices: it is nobody's address.
SERVER_ADDRESS = "198.18.0.1"
CLIENT_ADDRESS = "198.18.0.2"
PREFIX_LENGTH = 30
TOOL_TIMEOUT_S = 20
LINK_TIMEOUT_S = 10
LINK_POLL_S = 0.005
PORTS = range(10_000, 32_000)
LISTEN = "0A"  # the state in /proc/net/tcp


@dataclass
class Placement:
    """Where both sides run. Close it to give their networks back."""

    kind: str
    note: str | None
    server: SidePlacement
    client: SidePlacement
    server_address: str
    rootless: bool = False
    steering: Steering = Steering()
    """Whose CPUs process what arrives."""
    sleep_source: str = sleep.STAT
    """From which it is read how long a CPU sleeps."""
    holders: list[subprocess.Popen[bytes]] = field(default_factory=list)

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

    def cpus(self) -> tuple[int, ...]:
        """Of both sides."""
        return tuple(sorted({*self.server.cpus, *self.client.cpus}))

    @property
    def whole_cpu(self) -> WholeCpu:
        """The account of all that its CPUs do."""
        return WholeCpu(self.sleep_source, self.server.cpus, self.client.cpus)

    def access(self) -> list[str]:
        """Options of our server: in a network of ours alone, whoever can reach it may ask.

        All addresses are allowed, so that none is looked at: what is raced costs what it cost
        before there was anything to allow.
        """
        if self.kind == LOOPBACK:
            return []
        return ["--allow", "0.0.0.0/0,::/0", "--no-token"]

    def free_port(self) -> int:
        """A port of the server's network that nobody uses, below those the kernel gives out."""
        used = {port for port, _ in self.sockets()}
        return random.choice([port for port in PORTS if port not in used])

    def listens(self, port: int) -> bool:
        """True if connections to that port of the server's network are accepted."""
        return (port, LISTEN) in self.sockets()

    def sockets(self) -> set[tuple[int, str]]:
        """Local port and state of every TCP socket in the server's network.

        Its table is read from outside: no process has to enter, and no connection is wasted.
        """
        network = Path(f"/proc/{self.holders[0].pid if self.holders else 'self'}/net")
        found: set[tuple[int, str]] = set()
        for table in ("tcp", "tcp6"):
            with suppress(FileNotFoundError):
                for line in (network / table).read_text().splitlines()[1:]:
                    fields = line.split()
                    found.add((int(fields[1].rpartition(":")[2], 16), fields[3]))
        return found

    def describe(self) -> dict[str, object]:
        """What the ledger's environment says about it."""
        return {
            "kind": self.kind,
            "rootless": self.rootless,
            "note": self.note,
            "server_address": self.server_address,
            "server_cpus": list(self.server.cpus),
            "client_cpus": list(self.client.cpus),
            "control_groups": self.server.groups is not None,
            **self.steering.describe(),
            "whole_cpu": self.whole_cpu.describe(),
        }


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

    The siblings of the server's core are left idle while others are there: a busy sibling slows
    the server down.
    """
    for option, named in (("--server-cpus", server), ("--client-cpus", client)):
        missing = sorted(set(named or ()) - set(allowed))
        if missing:
            raise CpuError(
                f"{option} names CPU {cpu_list(missing)}, which does not exist or is not allowed "
                f"here; allowed: {cpu_list(allowed)}"
            )
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


def last_line(text: str) -> str:
    """What a tool said last, without its hint to ask for help."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Try ")]
    return lines[-1] if lines else "no reason was given"


def start_holder(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Starts a process that holds new namespaces: `cat`, which ends when the lab's pipe closes."""
    holder = subprocess.Popen(
        [*command, need_tool("cat", "coreutils")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Ctrl-C is for the lab, which then takes its things down in order.
        start_new_session=True,
    )
    assert holder.stdin
    assert holder.stdout
    assert holder.stderr
    with suppress(BrokenPipeError):
        holder.stdin.write(b".")
        holder.stdin.flush()
    # What comes back through cat proves that the namespaces are there.
    if holder.stdout.read(1) != b".":
        reason = last_line(holder.stderr.read().decode(errors="replace"))
        holder.kill()
        holder.wait()
        raise PlacementError(reason)
    holder.stderr.close()
    return holder


def run_tool(command: Sequence[str], stdin: str = "") -> str:
    try:
        run = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TOOL_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PlacementError(str(error)) from error
    if run.returncode != 0:
        raise PlacementError(last_line(run.stderr))
    return run.stdout


def wait_link_up(enter: Sequence[str], ip: str, device: str) -> None:
    """Waits until the device carries packets; before that a first packet may be lost."""
    deadline = time.monotonic() + LINK_TIMEOUT_S
    while True:
        links: list[dict[str, Any]] = json.loads(
            run_tool([*enter, ip, "-j", "link", "show", "dev", device])
        )
        if links and links[0].get("operstate") == "UP":
            return
        if time.monotonic() > deadline:
            raise PlacementError(f"the virtual device {device} did not come up")
        time.sleep(LINK_POLL_S)


def join(enter_server: Sequence[str], enter_client: Sequence[str], client_pid: int) -> None:
    """Lays the cable between the two networks and gives both ends their address."""
    ip = need_tool("ip", "iproute2")
    lay = f"link add server type veth peer name client netns {client_pid}"
    run_tool([*enter_server, ip, "-batch", "-"], f"{lay}\n")
    ends = (("server", enter_server, SERVER_ADDRESS), ("client", enter_client, CLIENT_ADDRESS))
    for device, enter, address in ends:
        steps = [
            "link set lo up",
            f"address add {address}/{PREFIX_LENGTH} dev {device}",
            f"link set {device} up",
        ]
        run_tool([*enter, ip, "-batch", "-"], "\n".join(steps) + "\n")
    for device, enter, _ in ends:
        wait_link_up(enter, ip, device)


def place_in_namespaces(
    server_cpus: tuple[int, ...], client_cpus: tuple[int, ...], steered: str
) -> Placement:
    """Both sides in a network of their own."""
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
        sleep_source=sleep.find_source(),
        holders=holders,
    )
    try:
        holders.append(start_holder([unshare, *user, "--net", "--"]))
        within = [nsenter, *join_user, "--target", str(holders[0].pid), "--"] if rootless else []
        holders.append(start_holder([*within, unshare, "--net", "--"]))
        enter_server, enter_client = (
            (nsenter, *join_user, "--net", "--target", str(holder.pid), "--") for holder in holders
        )
        join(enter_server, enter_client, holders[1].pid)
        placement.steering = steering.steer(
            steered,
            {
                "server": SidePlacement(enter_server, server_cpus),
                "client": SidePlacement(enter_client, client_cpus),
            },
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
        sleep_source=sleep.find_source(),
    )


def make_placement(
    kind: str,
    server_cpus: Sequence[int] | None,
    client_cpus: Sequence[int] | None,
    steered: str = steering.OWN_SIDE,
) -> Placement:
    """Places the two sides as asked; `auto` takes namespaces where they are permitted."""
    server, client = choose_cpus(server_cpus, client_cpus, sorted(os.sched_getaffinity(0)))
    if kind == LOOPBACK:
        return place_on_loopback(server, client, steered, None)
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
