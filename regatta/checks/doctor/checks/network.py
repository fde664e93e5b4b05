"""Ports, connection tracking, the accept queue, and the steering of packets."""

from regatta.checks.doctor.activity import Activity
from regatta.checks.doctor.finding import (
    FINE,
    MINOR,
    SERIOUS,
    UNKNOWN,
    Finding,
    RaceSetup,
    Subject,
    sysctl,
)
from regatta.checks.doctor.machine import Machine
from regatta.measure.network.steering import LinkEnd
from regatta.record.study.limits import BRIDGE, LOOPBACK, OWN_SIDE

# ---- Ports ----

PORTS = Subject(
    "ports",
    "A port stays in use for 60 s after its connection closes (TIME_WAIT). A load of short "
    "connections that runs out of ports stalls or fails, whatever the design.",
)
DEFAULT_RANGE = "32768 60999"
ENOUGH_PORTS = 10_000
FEWEST_PORTS = 1_000


def inspect_ports(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    if setup.has_own_network:
        says = "a race has its own network, with 64,512 ports that are free again after a second"
        return PORTS.found(FINE, says)
    text = machine.text("/proc/sys/net/ipv4/ip_local_port_range") or ""
    try:
        first, last = (int(value) for value in text.split())
    except ValueError:
        return PORTS.found(
            UNKNOWN,
            "the kernel does not report its port range",
            advice="See: sysctl net.ipv4.ip_local_port_range",
        )
    ports = last - first + 1
    waiting = waiting_ports(machine)
    words = f"{ports:,} ports ({first} to {last}), {waiting:,} connections in TIME_WAIT"
    left = ports - waiting
    if left >= ENOUGH_PORTS:
        return PORTS.found(FINE, words)
    level = SERIOUS if left < FEWEST_PORTS else MINOR
    if ports < ENOUGH_PORTS:
        return PORTS.found(
            level,
            words,
            **sysctl("net.ipv4.ip_local_port_range", f'"{DEFAULT_RANGE}"', f'"{first} {last}"'),
        )
    return PORTS.found(level, words, advice="Wait a minute until they are free again.")


def waiting_ports(machine: Machine) -> int:
    """TCP connections in TIME_WAIT: `TCP: inuse 4 orphan 0 tw 12 …`."""
    for line in (machine.text("/proc/net/sockstat") or "").splitlines():
        fields = line.split()
        if fields[:1] == ["TCP:"] and "tw" in fields[:-1]:
            value = fields[fields.index("tw") + 1]
            return int(value) if value.isdigit() else 0
    return 0


# ---- Connection tracking ----

TRACKING = Subject(
    "tracking",
    "Rules of a firewall or of docker can make the kernel track all connections (nf_conntrack). "
    "Each packet then takes more time, a closed connection stays for two minutes, and when the "
    "table is full, new connections get no answer.",
)
TRACKED = "/proc/sys/net/netfilter/nf_conntrack_"
ENOUGH_ENTRIES = 10_000


def inspect_tracking(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    if setup.has_own_network and setup.network != BRIDGE:
        return TRACKING.found(FINE, "a race has its own network, where no connection is tracked")
    count, most = (machine.number(f"{TRACKED}{name}") for name in ("count", "max"))
    if count is None or most is None:
        return TRACKING.found(FINE, "no connection is tracked")
    words = f"{count:,} connections are tracked, of at most {most:,}"
    if count == 0:
        return TRACKING.found(FINE, words)
    if most == 0 or most - count >= ENOUGH_ENTRIES:  # 0: no limit
        return TRACKING.found(MINOR, words, fix=("sudo regatta race --placement netns",))
    return TRACKING.found(
        SERIOUS, words, **sysctl("net.netfilter.nf_conntrack_max", 4 * most, most)
    )


# ---- The accept queue ----

BACKLOG = Subject(
    "backlog",
    "Connections wait in the accept queue until the server accepts them. When it is full, the "
    "kernel drops them silently and the client retries after a second, which adds a second of "
    "latency that no design caused.",
)
USUAL_BURST = 100
"""Concurrent connections in the largest burst of the study quick."""
DEFAULT_BACKLOG = 4096
OLD_BACKLOG = 128
RAISED_IN = (5, 4)


def inspect_backlog(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    has_network = setup.has_own_network
    if has_network:
        # A new network namespace has the kernel's default, not the setting of the host.
        length: int | None = DEFAULT_BACKLOG if machine.kernel() >= RAISED_IN else OLD_BACKLOG
    else:
        length = machine.number("/proc/sys/net/core/somaxconn")
    if length is None:
        return BACKLOG.found(
            UNKNOWN,
            "the kernel does not report the length of the accept queue",
            advice="See: sysctl net.core.somaxconn",
        )
    where = "in a race's own network " if has_network else ""
    words = f"{where}the accept queue holds {length:,} connections (somaxconn)"
    burst = setup.connections or USUAL_BURST
    if length >= burst:
        return BACKLOG.found(FINE, words)
    level = SERIOUS if setup.connections is not None else MINOR
    words = f"{words}, and {burst:,} may arrive at once"
    if has_network:
        return BACKLOG.found(
            level,
            words,
            fix=("regatta race --placement loopback",),
            advice="On loopback the host's setting applies: sudo sysctl net.core.somaxconn=4096",
        )
    longer = max(DEFAULT_BACKLOG, burst)
    return BACKLOG.found(level, words, **sysctl("net.core.somaxconn", longer, length))


# ---- Steering: which CPU processes the packets that arrive over the cable ----

STEERING = Subject(
    "steering",
    "A virtual cable delivers packets on the CPU that sends them. Without steering, the client's "
    "CPU does the server's TCP receive work and wakes its workers, and the server's CPU does the "
    "client's. Designs that wake more workers look cheaper than they are.",
)


def inspect_steering(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    steering = setup.steering
    entries = machine.number("/proc/sys/net/core/rps_sock_flow_entries") or 0
    cable = ends_text(steering.server, entries)
    if steering.kind == OWN_SIDE:
        return STEERING.found(
            FINE, f"each side's CPUs process the packets that it receives (RPS){cable}"
        )
    says = f"each side's CPUs process the packets that it sends{cable}"
    if setup.placement == LOOPBACK:
        return STEERING.found(MINOR, says, fix=("sudo regatta race --placement netns",))
    if not machine.is_root():
        return STEERING.found(MINOR, says, fix=("sudo regatta race",))
    return STEERING.found(MINOR, says, advice=steering.note or "")


def ends_text(end: LinkEnd | None, entries: int) -> str:
    """The cable, GRO and RFS, which also affect the cost of receiving; both ends are alike."""
    if end is None:
        return ""
    parts = [end.cable] if end.cable else []
    parts += [] if end.gro is None else [f"GRO {'on' if end.gro else 'off'}"]
    parts += [f"RFS {'on' if end.rfs_flows and entries else 'off'}"]
    return f"; {', '.join(parts)}"
