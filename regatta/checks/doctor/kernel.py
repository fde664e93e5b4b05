"""What the kernel lets a race measure, and its limits of tasks, descriptors, ports and queues."""

from regatta.checks.doctor.finding import (
    FINE,
    MINOR,
    SERIOUS,
    UNKNOWN,
    Finding,
    RaceSetup,
    switch,
)
from regatta.checks.doctor.machine import (
    CAP_PERFMON,
    CAP_SYS_ADMIN,
    CAP_SYS_RESOURCE,
    Machine,
    most_tasks,
)
from regatta.measure import environment
from regatta.record.study.limits import BRIDGE, LOOPBACK, OWN_SIDE

CLOCKS = "/sys/devices/system/clocksource/clocksource0"
FAST_CLOCKS = (
    *("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod"),
)
CLOCK_REJECTED = "The kernel may have rejected a faster one; see why: dmesg | grep -i clocksource"
PMU_DEVICES = "/sys/bus/event_source/devices"
# Of kernel.perf_event_paranoid.
ALL, OWN_KERNEL, USER_ONLY = -1, 1, 2
CGROUP2_MOUNT = "/sys/fs/cgroup/unified"

# The largest study that ships, c10k: 10,000 silent connections beside 100 busy ones.
SHIPPED_CONNECTIONS = 10_100
SPARE = 64
FEWEST = 256
"""The study quick needs about this many descriptors and tasks."""
DEFAULT_PORTS = "32768 60999"
ENOUGH_PORTS = 10_000
FEWEST_PORTS = 1_000
TRACKED = "net.netfilter.nf_conntrack_"
ENOUGH_ENTRIES = 10_000
USUAL_BURST = 100
"""Concurrent connections in the largest burst of the study quick."""
DEFAULT_BACKLOG = 4096
OLD_BACKLOG = 128
RAISED_IN = (5, 4)


def clock(machine: Machine, *_: object) -> Finding:
    now = machine.text(f"{CLOCKS}/current_clocksource")
    if not now:
        says = "the kernel does not report its clock source"
        return Finding(UNKNOWN, says, advice=CLOCK_REJECTED)
    if now in FAST_CLOCKS:
        return Finding(FINE, f"{now}, read without a system call")
    offered = (machine.text(f"{CLOCKS}/available_clocksource") or "").split()
    better = [name for name in FAST_CLOCKS if name in offered]
    if not better:
        says = f"{now} is slow to read, and no faster one is available"
        return Finding(MINOR, says, advice=CLOCK_REJECTED)
    return Finding(
        SERIOUS,
        f"{now} is slow to read, and {better[0]} is available",
        **switch(better[0], now, f"echo {{}} | sudo tee {CLOCKS}/current_clocksource"),
    )


def counters(machine: Machine, *_: object) -> Finding:
    if not machine.has_program("perf"):
        return Finding(
            MINOR,
            "perf is not installed, so only the kernel's own accounting is available",
            **switch("install", "remove", "sudo apt-get {} linux-perf"),
            advice="The package is linux-tools-generic on Ubuntu and perf on Fedora.",
        )
    if not any(_is_cpu(name) for name in machine.names(PMU_DEVICES)):
        return Finding(
            MINOR,
            "no hardware counters; software events and tracepoints work",
            advice="Enable a virtual PMU on the host (libvirt: <pmu state='on'/>), rent a metal "
            "instance, or race claims about hardware counters on another machine.",
        )
    if machine.hypervisor():
        return Finding(
            MINOR,
            "the hardware counters are virtual: the host may take some away while it runs other "
            "guests",
            advice="Trust only counters that ran 100 % of the time (see the ledger); perf "
            "extrapolates the others.",
        )
    if machine.text("/proc/sys/kernel/nmi_watchdog") == "1":
        says = "the NMI watchdog uses one hardware counter of each CPU, so others are multiplexed"
        return Finding(MINOR, says, **switch(0, 1, "sudo sysctl kernel.nmi_watchdog={}"))
    return Finding(FINE, "hardware counters are available")


def _is_cpu(device: str) -> bool:
    """Whether a PMU device is that of a CPU."""
    return device in ("cpu", "cpu_core", "cpu_atom") or device.startswith(("armv", "apple_"))


def paranoid(machine: Machine, *_: object) -> Finding:
    value = machine.number("/proc/sys/kernel/perf_event_paranoid")
    if value is None:
        says = "the kernel does not report what perf may count"
        return Finding(UNKNOWN, says, advice="Try it: perf stat true")
    words = f"kernel.perf_event_paranoid is {value}"
    if machine.may(CAP_PERFMON) or machine.may(CAP_SYS_ADMIN):
        return Finding(FINE, f"{words}, but this user is exempt")
    if value <= ALL:
        return Finding(FINE, f"{words}: perf may count everything")
    lacking = "perf may count nothing"
    if value <= OWN_KERNEL:
        lacking = "perf may not count tracepoints, so system calls are missing"
    elif value == USER_ONLY:
        lacking = "perf may not count context switches or anything in the kernel"
    return Finding(
        MINOR,
        f"{words}: {lacking}",
        **switch(ALL, value, "sudo sysctl kernel.perf_event_paranoid={}"),
        advice="Tracepoints also need: sudo mount -o remount,mode=755 /sys/kernel/tracing. Until "
        "the next boot every user may then count every process.",
    )


def accounting(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    if setup.control_groups:
        return Finding(FINE, "each side has a control group that is charged for its CPU time")
    instead = "CPU time is that of the server's process"
    if not machine.is_root():
        says = f"only root can create control groups here; {instead}"
        return Finding(MINOR, says, fix=("sudo regatta race",))
    return Finding(
        MINOR,
        f"control groups (v2) cannot be created here; {instead}",
        fix=(f"sudo mkdir -p {CGROUP2_MOUNT} && sudo mount -t cgroup2 none {CGROUP2_MOUNT}",),
        undo=(f"sudo umount {CGROUP2_MOUNT}",),
        advice="In an unprivileged container they are read-only: use docker run --privileged, "
        "or race on the host.",
    )


def irq_time(machine: Machine, *_: object) -> Finding:
    uncharged = environment.irq_time_accounting(machine.root)
    if uncharged is None:
        return Finding(
            UNKNOWN,
            "the kernel does not report whether interrupt time is charged to programs",
            advice="See: grep IRQ_TIME_ACCOUNTING /boot/config-$(uname -r)",
        )
    if uncharged:
        return Finding(
            MINOR,
            "the kernel was built to charge interrupt time to no program "
            "(IRQ_TIME_ACCOUNTING); with a stable clock, server CPU misses the cost of receiving",
            advice="Also read CPU busy per request; on x86, boot with tsc=noirqtime to charge the "
            "interrupted program.",
        )
    return Finding(FINE, "interrupt time is charged to the interrupted program")


def steering(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    steered = setup.steering
    if steered.kind == OWN_SIDE:
        return Finding(FINE, "each side's CPUs process the packets that it receives (RPS)")
    says = "each side's CPUs process the packets that it sends"
    if setup.placement == LOOPBACK:
        return Finding(MINOR, says, fix=("sudo regatta race --placement netns",))
    if not machine.is_root():
        return Finding(MINOR, says, fix=("sudo regatta race",))
    return Finding(MINOR, says, advice=steered.note or "")


def descriptors(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    hard = machine.hard_limit("Max open files")
    if hard is None:
        return Finding(FINE, "no limit of open files")
    return _limited(
        setup,
        hard,
        f"{hard:,} open files per process (hard limit)",
        _needed(setup),
        "sudo prlimit --pid $$ --nofile={}:{}",
        "This lasts for this shell; /etc/security/limits.conf is permanent.",
    )


def tasks(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    needed = _needed(setup)
    # By owner: the limit, one that is enough, the command that sets it, and advice.
    found: dict[str, tuple[int, object, str, str]] = {}
    user = machine.hard_limit("Max processes")
    if user is not None and not machine.may(CAP_SYS_RESOURCE):
        found["this user"] = (user, needed, "sudo prlimit --pid $$ --nproc={}:{}", "")
    threads = machine.number("/proc/sys/kernel/threads-max")
    if threads is not None:
        found["the machine"] = (threads, needed * 2, "sudo sysctl kernel.threads-max={}", "")
    group = most_tasks(machine)
    if group is not None:
        command = f"echo {{}} | sudo tee {group.path}"
        advice = "For a container use docker run --pids-limit."
        found["the control group"] = (int(group.value), "max", command, advice)
    if not found:
        return Finding(FINE, "no limit of processes and threads")
    owner = min(found, key=lambda who: found[who][0])
    limit, enough, command, advice = found[owner]
    words = f"{limit:,} processes and threads for {owner}"
    return _limited(setup, limit, words, enough, command, advice)


def _needed(setup: RaceSetup) -> int:
    return (setup.connections or SHIPPED_CONNECTIONS) + SPARE


def _limited(  # noqa: PLR0913, PLR0917  (a limit and its remedy)
    setup: RaceSetup, limit: int, words: str, enough: object, command: str, advice: str
) -> Finding:
    """Serious if the given study, or any study, does not fit; else only large studies do not."""
    needed = _needed(setup)
    if limit >= needed:
        return Finding(FINE, words)
    return Finding(
        SERIOUS if setup.connections is not None or limit < FEWEST else MINOR,
        f"{words}; {needed - SPARE:,} connections need {needed:,}",
        **switch(enough, limit, command),
        advice=advice,
    )


def ports(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    if setup.has_own_network:
        says = "a race has its own network, with 64,512 ports that are free again after a second"
        return Finding(FINE, says)
    text = machine.text("/proc/sys/net/ipv4/ip_local_port_range") or ""
    try:
        first, last = (int(value) for value in text.split())
    except ValueError:
        says = "the kernel does not report its port range"
        return Finding(UNKNOWN, says, advice="See: sysctl net.ipv4.ip_local_port_range")
    count, waiting = last - first + 1, _waiting_ports(machine)
    words = f"{count:,} ports ({first} to {last}), {waiting:,} connections in TIME_WAIT"
    left = count - waiting
    if left >= ENOUGH_PORTS:
        return Finding(FINE, words)
    level = SERIOUS if left < FEWEST_PORTS else MINOR
    if count >= ENOUGH_PORTS:
        return Finding(level, words, advice="Wait a minute until they are free again.")
    command = 'sudo sysctl net.ipv4.ip_local_port_range="{}"'
    return Finding(level, words, **switch(DEFAULT_PORTS, f"{first} {last}", command))


def _waiting_ports(machine: Machine) -> int:
    """TCP connections in TIME_WAIT: `TCP: inuse 4 orphan 0 tw 12 …`."""
    fields = machine.field("/proc/net/sockstat", "TCP").split()
    return int(dict(zip(fields[::2], fields[1::2], strict=False)).get("tw", 0))


def tracking(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    if setup.has_own_network and setup.network != BRIDGE:
        return Finding(FINE, "a race has its own network, where no connection is tracked")
    folder = f"/proc/sys/{TRACKED.replace('.', '/')}"
    count, most = (machine.number(f"{folder}{name}") for name in ("count", "max"))
    if count is None or most is None:
        return Finding(FINE, "no connection is tracked")
    words = f"{count:,} connections are tracked, of at most {most:,}"
    if count == 0:
        return Finding(FINE, words)
    if most == 0 or most - count >= ENOUGH_ENTRIES:  # 0: no limit
        return Finding(MINOR, words, fix=("sudo regatta race --placement netns",))
    return Finding(SERIOUS, words, **switch(4 * most, most, f"sudo sysctl {TRACKED}max={{}}"))


def backlog(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    has_network = setup.has_own_network
    length = machine.number("/proc/sys/net/core/somaxconn")
    if has_network:
        # A new network namespace has the kernel's default, not the setting of the host.
        length = DEFAULT_BACKLOG if machine.kernel() >= RAISED_IN else OLD_BACKLOG
    if length is None:
        says = "the kernel does not report the length of the accept queue"
        return Finding(UNKNOWN, says, advice="See: sysctl net.core.somaxconn")
    where = "in a race's own network " if has_network else ""
    words = f"{where}the accept queue holds {length:,} connections (somaxconn)"
    burst = setup.connections or USUAL_BURST
    if length >= burst:
        return Finding(FINE, words)
    level = SERIOUS if setup.connections is not None else MINOR
    words = f"{words}, and {burst:,} may arrive at once"
    if has_network:
        return Finding(
            level,
            words,
            fix=("regatta race --placement loopback",),
            advice="On loopback the host's setting applies: sudo sysctl net.core.somaxconn=4096",
        )
    longer = max(DEFAULT_BACKLOG, burst)
    return Finding(level, words, **switch(longer, length, "sudo sysctl net.core.somaxconn={}"))
