"""What the hosts of a study are, and the path between them: what spoils a race over them.

Each host is asked by the worker that a race would start there.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass

from regatta import __version__
from regatta.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Finding, Subject
from regatta.errors import RegattaError
from regatta.machine import cgroup, environment, perf
from regatta.machine.clocks import Offset
from regatta.machine.hosts.clock import Clock, ask_clock
from regatta.machine.hosts.engine import Engine
from regatta.machine.hosts.host import Host
from regatta.machine.hosts.path import Echo, EndFound, PathFound, ask_end, ask_path
from regatta.machine.hosts.placement import address_towards
from regatta.machine.perf import Perf
from regatta.machine.placed import HostsWish
from regatta.machine.programs import Programs, discover
from regatta.machine.side_placement import SidePlacement
from regatta.study.cpus import cpus_text
from regatta.study.hosts import host_name
from regatta.study.limits import START_SKEW_LIMIT_MS

REACHED = Subject("reached", "A side that cannot be reached cannot be raced.")
PROGRAMS = Subject("programs", "Two versions are two different services.")
PERF = Subject("perf", "Without it only the kernel's own accounting is recorded.")
GROUPS = Subject("control groups", "Without one CPU time misses the end of each thread.")
KERNEL = Subject("kernel and CPU", "Results are of this kernel and this CPU.")
CLOCK = Subject("clock", "Connections between the hosts are refused where dates are far apart.")
TRIP = Subject("round trip", "It is in every latency, and its spread in every percentile.")
BANDWIDTH = Subject("bandwidth", "A load that fills the network measures the network.")
DEVICES = Subject("devices", "Packet size and offload decide what a packet costs.")
START = Subject("start", "Clients that begin apart make another load than was asked for.")
CLOCK_ASKS = 10
NS_PER_MS = 1e6
FAR_S = 1.0
UNEVEN = 10.0
"""Times the median: a path that others use too, or a card that waits to interrupt."""


@dataclass(frozen=True)
class Looked:
    """What one host is."""

    version: str
    programs: Programs | str
    """Or why there are none."""
    found: Perf
    groups: bool
    cpu_model: str
    kernel: str
    cpus: tuple[int, ...]


def look() -> Looked:
    programs: Programs | str
    try:
        programs = discover()
    except RegattaError as error:
        programs = str(error)
    return Looked(
        version=__version__,
        programs=programs,
        found=perf.probe(()),
        groups=cgroup.find_home() is not None,
        cpu_model=environment.cpu_model(),
        kernel=environment.kernel(),
        cpus=tuple(sorted(os.sched_getaffinity(0))),
    )


def examine_hosts(wish: HostsWish) -> list[Finding]:
    """One finding a line, those of a host begin with its name."""
    findings: list[Finding] = []
    with ExitStack() as stack:
        engine = Engine()
        stack.callback(engine.close)
        hosts: list[Host] = []
        stack.callback(close_all, hosts)
        server = reach("server", wish.server, engine, hosts, findings)
        clients = [reach("client", name, engine, hosts, findings) for name in wish.clients]
        for host in hosts:
            findings += of_host(host)
        for client in clients:
            if server is not None and client is not None:
                address = wish.address or server.address
                findings += of_path(server, client, address, several=len(clients) > 1)
    return findings


def close_all(hosts: list[Host]) -> None:
    for host in hosts:
        host.close()


def reach(
    side: str, name: str, engine: Engine, hosts: list[Host], findings: list[Finding]
) -> Host | None:
    started_s = time.monotonic()
    try:
        host = Host(host_name(name), engine, hosts)
    except RegattaError as error:
        findings.append(
            REACHED.found(
                SERIOUS,
                f"{side}: {error}",
                advice=(
                    "ssh must log in without a question, and Regatta with Dask must lie in the "
                    "same folder as here, or in the one that the study names (docs/hosts.md)."
                ),
            )
        )
        return None
    took_s = time.monotonic() - started_s
    findings.append(
        REACHED.found(FINE, f"{host}: the {side}'s; its worker was up in {took_s:.1f} s")
    )
    return host


def of_host(host: Host) -> list[Finding]:
    looked = host.ask(look)
    findings = [programs_of(host, looked)]
    if looked.found.path is None:
        findings.append(
            PERF.found(MINOR, f"{host}: {looked.found.note}", advice="Install linux-perf there.")
        )
    else:
        findings.append(PERF.found(FINE, f"{host}: {looked.found.version}"))
    if looked.groups:
        findings.append(GROUPS.found(FINE, f"{host}: permitted"))
    else:
        advice = "Name root in the study: ssh://root@HOST."
        findings.append(GROUPS.found(MINOR, f"{host}: not permitted", advice=advice))
    says = f"{host}: {looked.cpu_model}, {cpus_text(looked.cpus)}, Linux {looked.kernel}"
    if len(looked.cpus) > 1:
        findings.append(KERNEL.found(FINE, says))
    else:
        advice = "Give the host a second CPU: what starts and watches its side needs one too."
        findings.append(KERNEL.found(MINOR, says, advice=advice))
    return [*findings, clock_of(host)]


def programs_of(host: Host, looked: Looked) -> Finding:
    here = discover().server_version
    if isinstance(looked.programs, str):
        return PROGRAMS.found(SERIOUS, f"{host}: {looked.programs}", advice="Run make build there.")
    there = looked.programs.server_version
    if (looked.version, there) == (__version__, here):
        return PROGRAMS.found(FINE, f"{host}: {there}, as here")
    return PROGRAMS.found(
        SERIOUS,
        f"{host}: Regatta {looked.version} with {there}; here {__version__} with {here}",
        advice="Put the same version there, and run make build.",
    )


def clock_of(host: Host) -> Finding:
    """Its date against ours: the answer that came soonest says most."""
    best_s, offset_s = float("inf"), 0.0
    for _ in range(CLOCK_ASKS):
        began = time.time()
        there = host.ask(time.time)
        ended = time.time()
        if ended - began < best_s:
            best_s, offset_s = ended - began, there - (began + ended) / 2
    says = f"{host}: {offset_s * 1000:+.0f} ms from ours, give or take {best_s * 500:.0f}"
    if abs(offset_s) < FAR_S + best_s:
        return CLOCK.found(FINE, says)
    return CLOCK.found(MINOR, says, advice="Have both hosts ask a time server (chrony).")


def of_path(server: Host, client: Host, address: str, several: bool) -> list[Finding]:
    """`several`: others begin with this client, which their clocks decide."""
    here = SidePlacement((), ())
    try:
        seen = client.ask(address_towards, address)
        with server.make(Echo, here, address, (seen,)) as echo:
            path = client.ask(ask_path, address, echo.port())
        with server.make(Clock, here, address, (seen,)) as clock:
            offset = client.ask(ask_clock, address, clock.port())
        ends = (server.ask(ask_end, seen), client.ask(ask_end, address))
    except (RegattaError, OSError, ValueError) as error:
        return [
            TRIP.found(
                SERIOUS,
                f"{client} does not reach {server} at {address}: {error}",
                advice="Let TCP through between the hosts, or name another `address`.",
            )
        ]
    name = f"{client}: " if several else ""
    found = [
        trip(name, path),
        BANDWIDTH.found(FINE, f"{name}{path.bits_per_s / 1e9:.2f} Gbit/s"),
        devices(name, ends),
    ]
    return [*found, start_of(client, offset)] if several else found


def start_of(client: Host, offset: Offset) -> Finding:
    """Whether the moment at which all clients begin can be told to this one."""
    bound_ms = offset.bound_ns / NS_PER_MS
    says = f"{client}: its clock is known to {bound_ms:.3f} ms"
    if 2 * bound_ms <= START_SKEW_LIMIT_MS:
        return START.found(FINE, says)
    advice = "Use a shorter path between the hosts: two clocks may differ by twice this."
    return START.found(MINOR, says, advice=advice)


def trip(name: str, path: PathFound) -> Finding:
    says = f"{name}p50 {path.p50_us:.0f} µs, p99 {path.p99_us:.0f} µs"
    if path.p99_us < UNEVEN * path.p50_us:
        return TRIP.found(FINE, says)
    advice = "Race when nobody else uses this network; look at the card's coalescing (ethtool -c)."
    return TRIP.found(MINOR, says, advice=advice)


def devices(name: str, ends: tuple[EndFound, EndFound]) -> Finding:
    says = name + "; ".join(
        f"{side}: {end.device} ({end.cable or 'driver not known'}), MTU {end.mtu}, "
        f"receive offload {({True: 'on', False: 'off', None: 'not known'})[end.gro]}"
        for side, end in zip(("server", "client"), ends, strict=True)
    )
    if len({end.mtu for end in ends}) > 1:
        return DEVICES.found(MINOR, says, advice="Give both devices the same MTU.")
    if len({end.gro for end in ends}) > 1:
        return DEVICES.found(MINOR, says, advice="Switch gro alike on both (ethtool -K).")
    return DEVICES.found(FINE if ends[0].gro is not None else UNKNOWN, says)
