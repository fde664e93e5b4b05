"""Limits: of descriptors, tasks, ports and waiting connections; and who receives what is sent."""

from regatta.doctor.activity import Activity
from regatta.doctor.cgroup import smallest
from regatta.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Finding, RaceSetup, Subject
from regatta.doctor.machine import CAP_SYS_RESOURCE, Machine
from regatta.machine.placed import LOOPBACK
from regatta.machine.steering import OWN_SIDE, End

# ---- Descriptors and tasks ----

DESCRIPTORS = Subject(
    "descriptors",
    "Each connection takes one descriptor on each side. Beyond the limit connections are refused "
    "and the trial fails.",
)
TASKS = Subject(
    "tasks",
    "Designs with a thread or process per connection, and the client's thread engine, create as "
    "many tasks as connections. Beyond the limit the trial fails.",
)
# The largest study that ships, c10k: 10,000 silent connections beside 100 busy ones.
SHIPPED_CONNECTIONS = 10_100
SPARE = 64
FEWEST = 256
"""With fewer connections than this not even the study quick fits well."""


def inspect_descriptors(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    hard = machine.hard_limit("Max open files")
    if hard is None:
        return DESCRIPTORS.found(FINE, "there is no limit of open files")
    words = f"{hard:,} open files a process (hard limit)"
    needed = (setup.connections or SHIPPED_CONNECTIONS) + SPARE
    if hard >= needed:
        return DESCRIPTORS.found(FINE, words)
    return DESCRIPTORS.found(
        too_few(setup, hard),
        f"{words}, {needed:,} are needed for {needed - SPARE:,} connections",
        fix=(f"sudo prlimit --pid $$ --nofile={needed}:{needed}",),
        undo=(f"sudo prlimit --pid $$ --nofile={hard}:{hard}",),
        advice="For this shell and what it starts; permanently in /etc/security/limits.conf.",
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
        return TASKS.found(FINE, "there is no limit of processes and threads")
    who = min(found, key=found.__getitem__)
    words = f"{found[who]:,} processes and threads for {who}"
    needed = (setup.connections or SHIPPED_CONNECTIONS) + SPARE
    if found[who] >= needed:
        return TASKS.found(FINE, words)
    path = group.path if group else ""
    fix, undo = {
        "this user": (
            f"sudo prlimit --pid $$ --nproc={needed}:{needed}",
            f"sudo prlimit --pid $$ --nproc={found[who]}:{found[who]}",
        ),
        "the machine": (
            f"sudo sysctl kernel.threads-max={needed * 2}",
            f"sudo sysctl kernel.threads-max={found[who]}",
        ),
        "the control group": (
            f"echo max | sudo tee {path}",
            f"echo {found[who]} | sudo tee {path}",
        ),
    }[who]
    in_group = who == "the control group"
    return TASKS.found(
        too_few(setup, found[who]),
        f"{words}, {needed:,} are needed for {needed - SPARE:,} connections",
        fix=(fix,),
        undo=(undo,),
        advice="Set a container's limit with docker run --pids-limit." if in_group else "",
    )


def too_few(setup: RaceSetup, limit: int) -> str:
    """Serious where the study at hand does not fit; otherwise only the largest ones do not."""
    return SERIOUS if setup.connections is not None or limit < FEWEST else MINOR


# ---- Ports ----

PORTS = Subject(
    "ports",
    "A port stays in use for 60 s after its connection ended (TIME_WAIT). A load of short "
    "connections that runs out of ports waits or fails, and measures the ports.",
)
DEFAULT_RANGE = "32768 60999"
ENOUGH_PORTS = 10_000
FEWEST_PORTS = 1_000


def inspect_ports(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    if setup.has_own_network:
        says = "a race has its own network, with the kernel's 28,232 ports and none in TIME_WAIT"
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
    return PORTS.found(level, words, advice="Wait a minute: they become free again.")


def waiting_ports(machine: Machine) -> int:
    """TCP connections in TIME_WAIT: `TCP: inuse 4 orphan 0 tw 12 …`."""
    for line in (machine.text("/proc/net/sockstat") or "").splitlines():
        fields = line.split()
        if fields[:1] == ["TCP:"] and "tw" in fields[:-1]:
            value = fields[fields.index("tw") + 1]
            return int(value) if value.isdigit() else 0
    return 0


# ---- Connections that wait to be accepted ----

BACKLOG = Subject(
    "backlog",
    "Connections that arrive faster than they are accepted wait in a queue. When it is full the "
    "kernel drops them silently and the client retries a second later: that second is in the "
    "latency, and no design caused it.",
)
USUAL_BURST = 100
"""Connections at a time in the largest burst of the study quick."""
DEFAULT_BACKLOG = 4096
OLD_BACKLOG = 128
RAISED_IN = (5, 4)


def inspect_backlog(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    has_network = setup.has_own_network
    if has_network:
        # A new network has the kernel's default, whatever the host's is set to.
        length: int | None = DEFAULT_BACKLOG if machine.kernel() >= RAISED_IN else OLD_BACKLOG
    else:
        length = machine.number("/proc/sys/net/core/somaxconn")
    if length is None:
        return BACKLOG.found(
            UNKNOWN,
            "the kernel does not report how many connections may wait",
            advice="See: sysctl net.core.somaxconn",
        )
    where = "in a race's own network " if has_network else ""
    words = f"{where}{length:,} connections may wait to be accepted (somaxconn)"
    burst = setup.connections or USUAL_BURST
    if length >= burst:
        return BACKLOG.found(FINE, words)
    level = SERIOUS if setup.connections is not None else MINOR
    words = f"{words}, and {burst:,} may come at once"
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


# ---- Steering: on whose CPU the kernel receives what is sent over the cable ----

STEERING = Subject(
    "steering",
    "A virtual cable delivers packets on the CPU that sends them. Without steering the client's "
    "CPU does the server's part of TCP and wakes its workers, so the client pays for it, and the "
    "server for what the client receives. Designs that wake more workers look cheaper than they "
    "are.",
)


def inspect_steering(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    steering = setup.steering
    entries = machine.number("/proc/sys/net/core/rps_sock_flow_entries") or 0
    cable = ends_text(steering.server, entries)
    if steering.kind == OWN_SIDE:
        return STEERING.found(FINE, f"each side's CPUs process what is sent to it (RPS){cable}")
    says = f"each side's CPUs process what they send themselves{cable}"
    if setup.placement == LOOPBACK:
        return STEERING.found(MINOR, says, fix=("sudo regatta race --placement netns",))
    if not machine.is_root():
        return STEERING.found(MINOR, says, fix=("sudo regatta race",))
    return STEERING.found(MINOR, says, advice=steering.note or "")


def ends_text(end: End | None, entries: int) -> str:
    """What the cable is and what else decides who receives; both ends are made alike."""
    if end is None:
        return ""
    parts = [end.cable] if end.cable else []
    parts += [] if end.gro is None else [f"GRO {'on' if end.gro else 'off'}"]
    parts += [f"RFS {'on' if end.rfs_flows and entries else 'off'}"]
    return f"; {', '.join(parts)}"
