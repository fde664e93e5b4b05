"""Examines the hosts of a study and the network path between them.

The questions go to the worker that a race would start on each host.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace

from regatta import __version__
from regatta.checks.doctor.examine import CHECKS
from regatta.checks.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Finding, switch
from regatta.errors import RegattaError
from regatta.measure import environment
from regatta.measure.accounts import cgroup
from regatta.measure.perf import Perf, probe
from regatta.measure.places.hosts.host import Host, TaskEngine
from regatta.measure.places.hosts.peers import (
    ClockServer,
    EndFound,
    PathFound,
    ask_end,
    ask_path,
)
from regatta.measure.places.hosts.placement import address_of_client, engine_for
from regatta.measure.places.sides import HostsWish
from regatta.measure.processes import read_text
from regatta.measure.programs import Programs, discover
from regatta.record.study.cpus import cpus_text

TW_REUSE = "/proc/sys/net/ipv4/tcp_tw_reuse"
CLOCK_READINGS = 10
FAR_S = 1.0
STATES = {True: "on", False: "off", None: "unknown"}
UNEVEN = 10.0
"""Ratio of p99 to p50 beyond which the path is shared or the card coalesces interrupts."""
MATTERS = {
    "reached": "A race cannot use a host that it cannot reach.",
    "programs": "Two versions of the server are two different services.",
    "perf": "Without perf only the kernel's own accounting is recorded.",
    "control groups": "Without one, CPU time misses the exit of each thread.",
    "kernel and CPU": "Results hold for this kernel and this CPU.",
    "ports": CHECKS["ports"].matters,
    "clock": "The hosts refuse connections if their clocks are far apart.",
    "round trip": "It is part of every latency, and its spread of every percentile.",
    "devices": "Packet size and offloads determine the cost of a packet.",
}


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
        server = _try_host("server", wish.server, engine, findings)
        clients = [_try_host("client", name, engine, findings) for name in wish.clients]
        for host in engine.hosts:
            findings += of_host(host)
        for client in clients:
            if server is not None and client is not None:
                address = wish.address or server.address
                findings += of_path(server, client, address, several=len(clients) > 1)
    return findings


def named(found: dict[str, Finding]) -> list[Finding]:
    return [replace(finding, name=name, matters=MATTERS[name]) for name, finding in found.items()]


def _judged(fine: bool, says: str, advice: str) -> Finding:
    """Fine, or else minor with this advice."""
    return Finding(FINE, says) if fine else Finding(MINOR, says, advice=advice)


def _try_host(side: str, name: str, engine: TaskEngine, findings: list[Finding]) -> Host | None:
    started_s = time.monotonic()
    host = None
    try:
        host = engine.reach(name)
        took_s = time.monotonic() - started_s
        found = Finding(FINE, f"{host}: the {side}; its worker started in {took_s:.1f} s")
    except RegattaError as error:
        advice = (
            "ssh must log in without a prompt, and Regatta with Dask must be in the same "
            "folder as here or in the one that the study names (docs/hosts.md)."
        )
        found = Finding(SERIOUS, f"{side}: {error}", advice=advice)
    findings += named({"reached": found})
    return host


def of_host(host: Host) -> list[Finding]:
    facts = host.ask(read_facts)
    perf, cpus = facts.found, cpus_text(facts.cpus)
    ports = Finding(FINE, f"{host}: free again after a second")
    if facts.tw_reuse != "1":
        ports = Finding(
            MINOR,
            f"{host}: a client has 14,000 short connections a minute; beyond, it looks for free "
            "ports",
            **switch(1, facts.tw_reuse or 2, "sudo sysctl net.ipv4.tcp_tw_reuse={}"),
        )
    return named(
        {
            "programs": _programs_of(host, facts),
            "perf": _judged(
                perf.path is not None,
                f"{host}: {perf.note if perf.path is None else perf.version}",
                "Install linux-perf there.",
            ),
            "control groups": _judged(
                facts.groups,
                f"{host}: {'' if facts.groups else 'not '}permitted",
                "Name root in the study: ssh://root@HOST.",
            ),
            "kernel and CPU": _judged(
                len(facts.cpus) > 1,
                f"{host}: {facts.cpu_model}, {cpus}, Linux {facts.kernel}",
                "Give the host a second CPU, for the worker that starts and watches its side.",
            ),
            "ports": ports,
            "clock": _clock_of(host),
        }
    )


def _programs_of(host: Host, facts: HostFacts) -> Finding:
    here = discover().server_version
    if isinstance(facts.programs, str):
        return Finding(SERIOUS, f"{host}: {facts.programs}", advice="Run make build there.")
    there = facts.programs.server_version
    if (facts.version, there) == (__version__, here):
        return Finding(FINE, f"{host}: {there}, as here")
    return Finding(
        SERIOUS,
        f"{host}: Regatta {facts.version} with {there}; here {__version__} with {here}",
        advice="Install the same version there and run make build.",
    )


def _clock_of(host: Host) -> Finding:
    """The offset of its clock; the fastest answer is the most exact."""
    answers: list[tuple[float, float]] = []
    for _ in range(CLOCK_READINGS):
        began, there, ended = time.time(), host.ask(time.time), time.time()
        answers.append((ended - began, there - (began + ended) / 2))
    took_s, offset_s = min(answers)
    return _judged(
        abs(offset_s) < FAR_S + took_s,
        f"{host}: {offset_s * 1000:+.0f} ms from this machine, ± {took_s * 500:.0f} ms",
        "Synchronise both hosts with a time server (chrony).",
    )


def of_path(server: Host, client: Host, address: str, several: bool) -> list[Finding]:
    """`several`: there are other clients, so that this one is named."""
    try:
        seen = address_of_client(client, server, address)
        with server.make(ClockServer, address, (seen,)) as clock:
            path = client.ask(ask_path, address, clock.port())
        ends = (server.ask(ask_end, seen), client.ask(ask_end, address))
    except (RegattaError, OSError, ValueError) as error:
        says = f"{client} cannot reach {server} at {address}: {error}"
        advice = "Allow TCP between the hosts, or set another `address` in the study."
        return named({"round trip": Finding(SERIOUS, says, advice=advice)})
    name = f"{client}: " if several else ""
    return named({"round trip": trip(name, path), "devices": devices(name, ends)})


def trip(name: str, path: PathFound) -> Finding:
    return _judged(
        path.p99_us < UNEVEN * path.p50_us,
        f"{name}p50 {path.p50_us:.0f} µs, p99 {path.p99_us:.0f} µs",
        "Race when the network is idle; check interrupt coalescing (ethtool -c).",
    )


def devices(name: str, ends: tuple[EndFound, EndFound]) -> Finding:
    says = name + "; ".join(
        f"{side}: {end.device} ({end.cable or 'unknown driver'}), MTU {end.mtu}, "
        + ", ".join(f"{offload} {STATES[state]}" for offload, state in end.offloads.items())
        for side, end in zip(("server", "client"), ends, strict=True)
    )
    if len({end.mtu for end in ends}) > 1:
        return Finding(MINOR, says, advice="Give both devices the same MTU.")
    server, client = (end.offloads for end in ends)
    differ = [name for name, state in server.items() if {state, client[name]} == {True, False}]
    if differ:
        advice = f"Set {' and '.join(differ)} alike on both (ethtool -K)."
        return Finding(MINOR, says, advice=advice)
    known = None not in {*server.values(), *client.values()}
    return Finding(FINE if known else UNKNOWN, says)
