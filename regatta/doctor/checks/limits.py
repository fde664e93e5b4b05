"""Limits of descriptors, tasks, ports and the accept queue; packet steering."""

from regatta.doctor.activity import Activity
from regatta.doctor.cgroup import smallest
from regatta.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Finding, RaceSetup, Subject
from regatta.doctor.machine import CAP_SYS_RESOURCE, Machine
from regatta.machine.network.steering import OWN_SIDE, LinkEnd
from regatta.machine.sides.placement import LOOPBACK

# ---- Descriptors and tasks ----

DESCRIPTORS = Subject(
    "descriptors",
    "Each connection needs a descriptor on each side. Beyond the limit, connections are refused "
    "and the trial fails.",
)
TASKS = Subject(
    "tasks",
    "Designs with a thread or process per connection, and the client's thread engine, create one "
    "task per connection. Beyond the limit the trial fails.",
)
# The largest study that ships, c10k: 10,000 silent connections beside 100 busy ones.
SHIPPED_CONNECTIONS = 10_100
SPARE = 64
FEWEST = 256
"""The study quick needs about this many."""


def inspect_descriptors(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    hard = machine.hard_limit("Max open files")
    if hard is None:
        return DESCRIPTORS.found(FINE, "no limit of open files")
    words = f"{hard:,} open files per process (hard limit)"
    needed = (setup.connections or SHIPPED_CONNECTIONS) + SPARE
    if hard >= needed:
        return DESCRIPTORS.found(FINE, words)
    return DESCRIPTORS.found(
        too_few(setup, hard),
        f"{words}; {needed - SPARE:,} connections need {needed:,}",
        fix=(f"sudo prlimit --pid $$ --nofile={needed}:{needed}",),
        undo=(f"sudo prlimit --pid $$ --nofile={hard}:{hard}",),
        advice="This lasts for this shell; /etc/security/limits.conf is permanent.",
    )


def inspect_tasks(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    found: dict[str, int] = {}
    user = machine.hard_limit("Max processes")
    if user is not None and not machine.may(CAP_SYS_RESOURCE):
        found["this user"] = user
    threads = machine.number("/proc/sys/kernel/threads-max")
    if threads is not None:
        found["the machine"] = threads
    group = smallest(machine, "pids", "pids.max")
    if group is not None:
        found["the control group"] = int(group.value)
    if not found:
        return TASKS.found(FINE, "no limit of processes and threads")
    owner = min(found, key=found.__getitem__)
    words = f"{found[owner]:,} processes and threads for {owner}"
    needed = (setup.connections or SHIPPED_CONNECTIONS) + SPARE
    if found[owner] >= needed:
        return TASKS.found(FINE, words)
    path = group.path if group else ""
    fix, undo = {
        "this user": (
            f"sudo prlimit --pid $$ --nproc={needed}:{needed}",
            f"sudo prlimit --pid $$ --nproc={found[owner]}:{found[owner]}",
        ),
        "the machine": (
            f"sudo sysctl kernel.threads-max={needed * 2}",
            f"sudo sysctl kernel.threads-max={found[owner]}",
        ),
        "the control group": (
            f"echo max | sudo tee {path}",
            f"echo {found[owner]} | sudo tee {path}",
        ),
    }[owner]
    in_group = owner == "the control group"
    return TASKS.found(
        too_few(setup, found[owner]),
        f"{words}; {needed - SPARE:,} connections need {needed:,}",
        fix=(fix,),
        undo=(undo,),
        advice="For a container use docker run --pids-limit." if in_group else "",
    )


def too_few(setup: RaceSetup, limit: int) -> str:
    """Serious if the given study, or any study, does not fit; else only large studies do not."""
    return SERIOUS if setup.connections is not None or limit < FEWEST else MINOR


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
        says = "a race has its own network, with 28,232 ports and none in TIME_WAIT"
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
            fix=(f'sudo sysctl net.ipv4.ip_local_port_range="{DEFAULT_RANGE}"',),
            undo=(f'sudo sysctl net.ipv4.ip_local_port_range="{first} {last}"',),
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
    return BACKLOG.found(
        level,
        words,
        fix=(f"sudo sysctl net.core.somaxconn={max(DEFAULT_BACKLOG, burst)}",),
        undo=(f"sudo sysctl net.core.somaxconn={length}",),
    )


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
