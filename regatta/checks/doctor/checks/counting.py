"""Clock, counters and accounting: what can be measured here, and which program is charged."""

from regatta.checks.doctor.activity import Activity
from regatta.checks.doctor.finding import (
    FINE,
    MEASURE_IT,
    MINOR,
    SERIOUS,
    UNKNOWN,
    Finding,
    RaceSetup,
    Subject,
    sysctl,
)
from regatta.checks.doctor.machine import CAP_PERFMON, CAP_SYS_ADMIN, Machine
from regatta.checks.doctor.probes.bench import Bench
from regatta.measure import kernel_config

# ---- The clock ----

CLOCK = Subject(
    "clock",
    "The client reads the clock for each request, the kernel for each context switch. A slow clock "
    "adds up to a microsecond to every latency and to the CPU time of designs that switch often.",
)
SOURCES = "/sys/devices/system/clocksource/clocksource0"
REJECTED = "The kernel may have rejected a faster one; see why: dmesg | grep -i clocksource"
CHEAP_NS, DEAR_NS = 150.0, 500.0
FAST = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod")


def inspect_clock(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    now = machine.text(f"{SOURCES}/current_clocksource")
    if not now:
        return CLOCK.found(
            UNKNOWN, "the kernel does not report its clock source", advice=MEASURE_IT
        )
    if now in FAST:
        return CLOCK.found(FINE, f"{now}, read without a system call")
    offered = (machine.text(f"{SOURCES}/available_clocksource") or "").split()
    better = [name for name in FAST if name in offered]
    if not better:
        says = f"{now} is slow to read, and no faster one is available"
        return CLOCK.found(MINOR, says, advice=REJECTED)
    return CLOCK.found(
        SERIOUS,
        f"{now} is slow to read, and {better[0]} is available",
        fix=(f"echo {better[0]} | sudo tee {SOURCES}/current_clocksource",),
        undo=(f"echo {now} | sudo tee {SOURCES}/current_clocksource",),
    )


def measure_clock(finding: Finding, bench: Bench) -> Finding:
    effect = bench.clock
    if effect.high < CHEAP_NS:
        return finding.measured([effect], FINE)
    return finding.measured([effect], SERIOUS if effect.low > DEAR_NS else MINOR, advice=REJECTED)


# ---- Hardware counters ----

COUNTERS = Subject(
    "counters",
    "Hardware counters show why a design wins: cycles, instructions, cache misses. Without them "
    'standings stay valid, but claims about counters are "not measurable here".',
)
DEVICES = "/sys/bus/event_source/devices"
WATCHDOG = "/proc/sys/kernel/nmi_watchdog"


def inspect_counters(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    if not machine.has_program("perf"):
        return COUNTERS.found(
            MINOR,
            "perf is not installed, so only the kernel's own accounting is available",
            fix=("sudo apt-get install linux-perf",),
            undo=("sudo apt-get remove linux-perf",),
            advice="The package is linux-tools-generic on Ubuntu and perf on Fedora.",
        )
    virtual = machine.hypervisor()
    if not any(is_cpu(name) for name in machine.names(DEVICES)):
        where = "the host does not expose them" if virtual else "the kernel has no driver for them"
        return COUNTERS.found(
            MINOR,
            f"no hardware counters: {where}; software events and tracepoints work",
            advice="Enable a virtual PMU on the host (libvirt: <pmu state='on'/>), or in a cloud "
            "rent a metal instance."
            if virtual
            else "Race claims about hardware counters on another machine.",
        )
    if virtual:
        return COUNTERS.found(
            MINOR,
            "the hardware counters are virtual: the host may take some away while it runs other "
            "guests",
            advice="Trust only counters that ran 100 % of the time (see the ledger); perf "
            "extrapolates the others.",
        )
    if machine.text(WATCHDOG) == "1":
        return COUNTERS.found(
            MINOR,
            "the NMI watchdog uses one hardware counter of each CPU, so others are multiplexed",
            **sysctl("kernel.nmi_watchdog", 0, 1),
        )
    return COUNTERS.found(FINE, "hardware counters are available")


def is_cpu(device: str) -> bool:
    """Whether a PMU device is that of a CPU."""
    return device in ("cpu", "cpu_core", "cpu_atom") or device.startswith(("armv", "apple_"))


def measure_counters(finding: Finding, bench: Bench) -> Finding:
    """The level stays: counting costs only counted trials, not timed ones."""
    return finding.measured([bench.perf_cost], finding.level)


# ---- What perf may count ----

PARANOID = Subject(
    "paranoid",
    "Events that perf may not count are missing from all tables. Context switches and most of the "
    "CPU time of a server happen in the kernel.",
)
ALL, OWN_KERNEL, USER_ONLY = -1, 1, 2


def inspect_paranoid(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    value = machine.number("/proc/sys/kernel/perf_event_paranoid")
    if value is None:
        says = "the kernel does not report what perf may count"
        return PARANOID.found(UNKNOWN, says, advice="Try it: perf stat true")
    words = f"kernel.perf_event_paranoid is {value}"
    if machine.may(CAP_PERFMON) or machine.may(CAP_SYS_ADMIN):
        return PARANOID.found(FINE, f"{words}, but this user is exempt")
    if value <= ALL:
        return PARANOID.found(FINE, f"{words}: perf may count everything")
    if value <= OWN_KERNEL:
        lacking = "perf may not count tracepoints, so system calls are missing"
    elif value == USER_ONLY:
        lacking = "perf may not count context switches or anything in the kernel"
    else:
        lacking = "perf may count nothing"
    return PARANOID.found(
        MINOR,
        f"{words}: {lacking}",
        **sysctl("kernel.perf_event_paranoid", ALL, value),
        advice="Tracepoints also need: sudo mount -o remount,mode=755 /sys/kernel/tracing. Until "
        "the next boot every user may then count every process.",
    )


# ---- Control groups ----

ACCOUNTING = Subject(
    "accounting",
    "Without a control group, CPU time is that of the server's process, which misses the time of a "
    "thread while it exits: for thread-per-client 1.7 % if each request scans /proc, 7 % if not. "
    "Designs that create no threads are not affected.",
)
MOUNT = "/sys/fs/cgroup/unified"


def inspect_accounting(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    if setup.control_groups:
        return ACCOUNTING.found(
            FINE, "each side has a control group that is charged for its CPU time"
        )
    instead = "CPU time is that of the server's process"
    if not machine.is_root():
        says = f"only root can create control groups here; {instead}"
        return ACCOUNTING.found(MINOR, says, fix=("sudo regatta race",))
    mounts = (machine.text("/proc/self/mounts") or "").splitlines()
    if any(line.split()[2:3] == ["cgroup2"] for line in mounts):
        return ACCOUNTING.found(
            MINOR,
            f"control groups cannot be created here; {instead}",
            advice="In an unprivileged container they are read-only: use docker run --privileged, "
            "or race on the host.",
        )
    return ACCOUNTING.found(
        MINOR,
        f"cgroup v2 is not mounted; {instead}",
        fix=(f"sudo mkdir -p {MOUNT} && sudo mount -t cgroup2 none {MOUNT}",),
        undo=(f"sudo umount {MOUNT}",),
    )


# ---- Interrupts ----

IRQ_TIME = Subject(
    "irq-time",
    "The kernel receives packets in interrupts. Their time is charged to the interrupted program, "
    "to none if the CPU was idle, and with IRQ_TIME_ACCOUNTING always to none. The report's second "
    "account, CPU busy per request, includes all of it.",
)


def inspect_irq_time(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    uncharged = kernel_config.irq_time_accounting(machine.root)
    if uncharged is None:
        return IRQ_TIME.found(
            UNKNOWN,
            "the kernel does not report whether interrupt time is charged to programs",
            advice="See: grep IRQ_TIME_ACCOUNTING /boot/config-$(uname -r)",
        )
    if uncharged:
        return IRQ_TIME.found(
            MINOR,
            "the kernel was built to charge interrupt time to no program "
            "(IRQ_TIME_ACCOUNTING); with a stable clock, server CPU misses the cost of receiving",
            advice="Also read CPU busy per request; on x86, boot with tsc=noirqtime to charge the "
            "interrupted program.",
        )
    return IRQ_TIME.found(FINE, "interrupt time is charged to the interrupted program")
