"""Ports, their waiting time, and the queue of connections that nobody has accepted yet."""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Finding, Situation
from regatta.doctor.machine import Machine
from regatta.machine.placement import NETNS

PORTS = "ports"
BACKLOG = "backlog"
RANGE = "/proc/sys/net/ipv4/ip_local_port_range"
SOMAXCONN = "/proc/sys/net/core/somaxconn"
DEFAULT_RANGE = (32768, 60999)
ENOUGH_PORTS = 10_000
FEWEST_PORTS = 1_000
USUAL_BURST = 100
"""Connections at a time in the largest burst of the quick race."""
DEFAULT_BACKLOG = 4096
OLD_BACKLOG = 128
RAISED_IN = (5, 4)
OF_PORTS = (
    "A port stays taken for 60 s after its connection ended (TIME_WAIT). A load of short "
    "connections that has used all of them waits, or fails, and measures the ports."
)
OF_BACKLOG = (
    "Connections that arrive faster than they are accepted wait in a queue. Where it is full the "
    "kernel drops them without a word and the client tries again a second later: that second is "
    "in the latency, and it is no design's."
)


def look_at_ports(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    if situation.placement == NETNS:
        return Finding(
            PORTS,
            FINE,
            "a race has a network of its own, with the kernel's 28,232 ports and none waiting",
            OF_PORTS,
        )
    text = machine.text(RANGE) or ""
    try:
        first, last = (int(value) for value in text.split())
    except ValueError:
        return Finding(
            PORTS,
            UNKNOWN,
            "the kernel does not tell its range of ports",
            OF_PORTS,
            advice="Look: sysctl net.ipv4.ip_local_port_range",
        )
    ports = last - first + 1
    waiting = waiting_ports(machine)
    told = f"{ports:,} ports ({first} to {last}), {waiting:,} connections in TIME_WAIT"
    left = ports - waiting
    if left >= ENOUGH_PORTS:
        return Finding(PORTS, FINE, told, OF_PORTS)
    level = SERIOUS if left < FEWEST_PORTS else MINOR
    if ports < ENOUGH_PORTS:
        first_wanted, last_wanted = DEFAULT_RANGE
        return Finding(
            PORTS,
            level,
            told,
            OF_PORTS,
            fix=(f'sudo sysctl net.ipv4.ip_local_port_range="{first_wanted} {last_wanted}"',),
            undo=(f'sudo sysctl net.ipv4.ip_local_port_range="{first} {last}"',),
        )
    return Finding(PORTS, level, told, OF_PORTS, advice="Wait a minute: then they are free again.")


def waiting_ports(machine: Machine) -> int:
    """TCP connections in TIME_WAIT: `TCP: inuse 4 orphan 0 tw 12 …`."""
    for line in (machine.text("/proc/net/sockstat") or "").splitlines():
        fields = line.split()
        if fields[:1] == ["TCP:"] and "tw" in fields[:-1]:
            value = fields[fields.index("tw") + 1]
            return int(value) if value.isdigit() else 0
    return 0


def look_at_backlog(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    if situation.placement == NETNS:
        # A new network has the kernel's default, whatever the host's is set to.
        length: int | None = DEFAULT_BACKLOG if machine.kernel() >= RAISED_IN else OLD_BACKLOG
        where = "in a race's own network "
    else:
        length, where = machine.number(SOMAXCONN), ""
    if length is None:
        return Finding(
            BACKLOG,
            UNKNOWN,
            "the kernel does not tell how many connections may wait",
            OF_BACKLOG,
            advice="Look: sysctl net.core.somaxconn",
        )
    told = f"{where}{length:,} connections may wait to be accepted (somaxconn)"
    burst = situation.connections or USUAL_BURST
    if length >= burst:
        return Finding(BACKLOG, FINE, told, OF_BACKLOG)
    level = SERIOUS if situation.connections is not None else MINOR
    told = f"{told}, and {burst:,} may come at once"
    if situation.placement == NETNS:
        return Finding(
            BACKLOG,
            level,
            told,
            OF_BACKLOG,
            fix=("regatta race --placement loopback",),
            advice="On loopback the host's own setting counts: sudo sysctl net.core.somaxconn=4096",
        )
    return Finding(
        BACKLOG,
        level,
        told,
        OF_BACKLOG,
        fix=(f"sudo sysctl net.core.somaxconn={max(DEFAULT_BACKLOG, burst)}",),
        undo=(f"sudo sysctl net.core.somaxconn={length}",),
    )
