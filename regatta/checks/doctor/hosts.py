"""Examines the hosts of a study and the network path between them.

The questions go to the worker that a race would start on each host.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass

from regatta import __version__
from regatta.checks.doctor.checks.network import PORTS
from regatta.checks.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Finding, Subject, sysctl
from regatta.errors import RegattaError
from regatta.measure import environment
from regatta.measure.accounts import cgroup
from regatta.measure.perf import Perf, probe
from regatta.measure.places.hosts.host import Host, TaskEngine
from regatta.measure.places.hosts.network_path import Echo, EndFound, PathFound, ask_end, ask_path
from regatta.measure.places.hosts.peers import ClockServer, ask_clock
from regatta.measure.places.hosts.placement import address_of_client, engine_for, reach
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import ClockOffset, HostsWish
from regatta.measure.processes import read_text
from regatta.measure.programs import Programs, discover
from regatta.record.study.cpus import cpus_text
from regatta.record.study.limits import START_SKEW_LIMIT_MS

REACHED = Subject("reached", "A race cannot use a host that it cannot reach.")
PROGRAMS = Subject("programs", "Two versions of the server are two different services.")
PERF = Subject("perf", "Without perf only the kernel's own accounting is recorded.")
GROUPS = Subject("control groups", "Without one, CPU time misses the exit of each thread.")
KERNEL = Subject("kernel and CPU", "Results hold for this kernel and this CPU.")
CLOCK = Subject("clock", "The hosts refuse connections if their clocks are far apart.")
TRIP = Subject("round trip", "It is part of every latency, and its spread of every percentile.")
BANDWIDTH = Subject("bandwidth", "A load that fills the network measures the network.")
DEVICES = Subject("devices", "Packet size and offloads determine the cost of a packet.")
START = Subject("start", "Clients that do not start together produce a different load.")
TW_REUSE = "/proc/sys/net/ipv4/tcp_tw_reuse"
CLOCK_READINGS = 10
NS_PER_MS = 1e6
FAR_S = 1.0
STATES = {True: "on", False: "off", None: "unknown"}
UNEVEN = 10.0
"""Ratio of p99 to p50 beyond which the path is shared or the card coalesces interrupts."""


@dataclass(frozen=True)
class HostFacts:
    """The software and hardware of one host."""

    version: str
    programs: Programs | str
    """Or why they are missing."""
    found: Perf
    groups: bool
    cpu_model: str
    kernel: str
    cpus: tuple[int, ...]
    tw_reuse: str | None
    """`1`: its clients may use a port again a second after its connection."""


def read_facts() -> HostFacts:
    programs: Programs | str
    try:
        programs = discover()
    except RegattaError as error:
        programs = str(error)
    return HostFacts(
        version=__version__,
        programs=programs,
        found=probe(()),
        groups=cgroup.find_home() is not None,
        cpu_model=environment.cpu_model(),
        kernel=environment.kernel(),
        cpus=tuple(sorted(os.sched_getaffinity(0))),
        tw_reuse=read_text(TW_REUSE),
    )


def examine_hosts(wish: HostsWish) -> list[Finding]:
    """The findings; those of a host begin with its name."""
    findings: list[Finding] = []
    with ExitStack() as stack:
        engine = engine_for(wish)
        stack.callback(engine.close)
        hosts: list[Host] = []
        stack.callback(close_all, hosts)
        server = try_host("server", wish.server, engine, hosts, findings)
        clients = [try_host("client", name, engine, hosts, findings) for name in wish.clients]
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


def try_host(
    side: str, name: str, engine: TaskEngine, hosts: list[Host], findings: list[Finding]
) -> Host | None:
    started_s = time.monotonic()
    try:
        host = reach(name, engine, hosts)
    except RegattaError as error:
        findings.append(
            REACHED.found(
                SERIOUS,
                f"{side}: {error}",
                advice=(
                    "ssh must log in without a prompt, and Regatta with Dask must be in the same "
                    "folder as here or in the one that the study names (docs/hosts.md)."
                ),
            )
        )
        return None
    took_s = time.monotonic() - started_s
    findings.append(
        REACHED.found(FINE, f"{host}: the {side}; its worker started in {took_s:.1f} s")
    )
    return host


def of_host(host: Host) -> list[Finding]:
    facts = host.ask(read_facts)
    findings = [programs_of(host, facts)]
    if facts.found.path is None:
        findings.append(
            PERF.found(MINOR, f"{host}: {facts.found.note}", advice="Install linux-perf there.")
        )
    else:
        findings.append(PERF.found(FINE, f"{host}: {facts.found.version}"))
    if facts.groups:
        findings.append(GROUPS.found(FINE, f"{host}: permitted"))
    else:
        advice = "Name root in the study: ssh://root@HOST."
        findings.append(GROUPS.found(MINOR, f"{host}: not permitted", advice=advice))
    says = f"{host}: {facts.cpu_model}, {cpus_text(facts.cpus)}, Linux {facts.kernel}"
    if len(facts.cpus) > 1:
        findings.append(KERNEL.found(FINE, says))
    else:
        advice = "Give the host a second CPU, for the worker that starts and watches its side."
        findings.append(KERNEL.found(MINOR, says, advice=advice))
    return [*findings, ports_of(host, facts), clock_of(host)]


def ports_of(host: Host, facts: HostFacts) -> Finding:
    if facts.tw_reuse == "1":
        return PORTS.found(FINE, f"{host}: free again after a second")
    return PORTS.found(
        MINOR,
        f"{host}: a client has 14,000 short connections a minute; beyond, it looks for free ports",
        **sysctl("net.ipv4.tcp_tw_reuse", 1, facts.tw_reuse or 2),
    )


def programs_of(host: Host, facts: HostFacts) -> Finding:
    here = discover().server_version
    if isinstance(facts.programs, str):
        return PROGRAMS.found(SERIOUS, f"{host}: {facts.programs}", advice="Run make build there.")
    there = facts.programs.server_version
    if (facts.version, there) == (__version__, here):
        return PROGRAMS.found(FINE, f"{host}: {there}, as here")
    return PROGRAMS.found(
        SERIOUS,
        f"{host}: Regatta {facts.version} with {there}; here {__version__} with {here}",
        advice="Install the same version there and run make build.",
    )


def clock_of(host: Host) -> Finding:
    """The offset of its clock; the fastest answer is the most exact."""
    best_s, offset_s = float("inf"), 0.0
    for _ in range(CLOCK_READINGS):
        began = time.time()
        there = host.ask(time.time)
        ended = time.time()
        if ended - began < best_s:
            best_s, offset_s = ended - began, there - (began + ended) / 2
    says = f"{host}: {offset_s * 1000:+.0f} ms from this machine, ± {best_s * 500:.0f} ms"
    if abs(offset_s) < FAR_S + best_s:
        return CLOCK.found(FINE, says)
    return CLOCK.found(MINOR, says, advice="Synchronise both hosts with a time server (chrony).")


def of_path(server: Host, client: Host, address: str, several: bool) -> list[Finding]:
    """`several`: there are other clients, which must start at the same time as this one."""
    here = SidePlacement((), ())
    try:
        seen = address_of_client(client, server, address)
        with server.make(Echo, here, address, (seen,)) as echo:
            path = client.ask(ask_path, address, echo.port())
        with server.make(ClockServer, here, address, (seen,)) as clock:
            offset = client.ask(ask_clock, address, clock.port())
        ends = (server.ask(ask_end, seen), client.ask(ask_end, address))
    except (RegattaError, OSError, ValueError) as error:
        return [
            TRIP.found(
                SERIOUS,
                f"{client} cannot reach {server} at {address}: {error}",
                advice="Allow TCP between the hosts, or set another `address` in the study.",
            )
        ]
    name = f"{client}: " if several else ""
    found = [
        trip(name, path),
        BANDWIDTH.found(FINE, f"{name}{path.bits_per_s / 1e9:.2f} Gbit/s"),
        devices(name, ends),
    ]
    return [*found, start_of(client, offset)] if several else found


def start_of(client: Host, offset: ClockOffset) -> Finding:
    """Whether the clocks are known well enough to start all clients together."""
    bound_ms = offset.bound_ns / NS_PER_MS
    says = f"{client}: the offset of its clock is known to ± {bound_ms:.3f} ms"
    if 2 * bound_ms <= START_SKEW_LIMIT_MS:
        return START.found(FINE, says)
    advice = "Use a faster path between the hosts: two clients may differ by twice this."
    return START.found(MINOR, says, advice=advice)


def trip(name: str, path: PathFound) -> Finding:
    says = f"{name}p50 {path.p50_us:.0f} µs, p99 {path.p99_us:.0f} µs"
    if path.p99_us < UNEVEN * path.p50_us:
        return TRIP.found(FINE, says)
    advice = "Race when the network is idle; check interrupt coalescing (ethtool -c)."
    return TRIP.found(MINOR, says, advice=advice)


def devices(name: str, ends: tuple[EndFound, EndFound]) -> Finding:
    says = name + "; ".join(
        f"{side}: {end.device} ({end.cable or 'unknown driver'}), MTU {end.mtu}, "
        + ", ".join(f"{offload} {STATES[state]}" for offload, state in end.offloads.items())
        for side, end in zip(("server", "client"), ends, strict=True)
    )
    if len({end.mtu for end in ends}) > 1:
        return DEVICES.found(MINOR, says, advice="Give both devices the same MTU.")
    server, client = (end.offloads for end in ends)
    differ = [one for one, state in server.items() if {state, client[one]} == {True, False}]
    if differ:
        advice = f"Set {' and '.join(differ)} alike on both (ethtool -K)."
        return DEVICES.found(MINOR, says, advice=advice)
    known = None not in {*server.values(), *client.values()}
    return DEVICES.found(FINE if known else UNKNOWN, says)
