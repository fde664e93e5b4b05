"""Counting: what can be measured here, to whom it is charged, and what reading the clock costs."""

from regatta.doctor.activity import Activity
from regatta.doctor.finding import (
    FINE,
    MEASURE_IT,
    MINOR,
    SERIOUS,
    UNKNOWN,
    Finding,
    RaceSetup,
    Subject,
)
from regatta.doctor.machine import CAP_PERFMON, CAP_SYS_ADMIN, Machine
from regatta.doctor.probes.bench import Bench
from regatta.machine import kernel_config

# ---- The clock ----

CLOCK = Subject(
    "clock",
    "The client reads the clock for each request, the kernel for each context switch. A clock that "
    "costs a microsecond adds to every latency, and to the CPU time of designs that switch most.",
)
SOURCES = "/sys/devices/system/clocksource/clocksource0"
GIVEN_UP = "The kernel may have rejected a faster one: dmesg | grep -i clocksource says why."
CHEAP_NS, DEAR_NS = 150.0, 500.0
FAST = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod")


def inspect_clock(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    now = machine.text(f"{SOURCES}/current_clocksource")
    if not now:
        return CLOCK.found(UNKNOWN, "the kernel does not name its clock source", advice=MEASURE_IT)
    if now in FAST:
        return CLOCK.found(FINE, f"{now}: read without a system call")
    offered = (machine.text(f"{SOURCES}/available_clocksource") or "").split()
    better = [name for name in FAST if name in offered]
    if not better:
        says = f"{now}, which is slow to read, and no faster one is offered"
        return CLOCK.found(MINOR, says, advice=GIVEN_UP)
    return CLOCK.found(
        SERIOUS,
        f"{now}, which is slow to read; {better[0]} is available",
        fix=(f"echo {better[0]} | sudo tee {SOURCES}/current_clocksource",),
        undo=(f"echo {now} | sudo tee {SOURCES}/current_clocksource",),
    )


def measure_clock(finding: Finding, bench: Bench) -> Finding:
    effect = bench.clock
    if effect.high < CHEAP_NS:
        return finding.measured([effect], FINE)
    return finding.measured([effect], SERIOUS if effect.low > DEAR_NS else MINOR, advice=GIVEN_UP)


# ---- Hardware counters ----

COUNTERS = Subject(
    "counters",
    "Counters say why a design wins: cycles, instructions, cache misses. Without them the "
    'standings are just as good, but claims about counters are "not measurable here".',
)
DEVICES = "/sys/bus/event_source/devices"
WATCHDOG = "/proc/sys/kernel/nmi_watchdog"


def inspect_counters(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    if not machine.has_program("perf"):
        return COUNTERS.found(
            MINOR,
            "perf is not installed: only the kernel's own accounting",
            fix=("sudo apt-get install linux-perf",),
            undo=("sudo apt-get remove linux-perf",),
            advice="Ubuntu calls the package linux-tools-generic, Fedora perf.",
        )
    virtual = machine.hypervisor()
    if not any(is_cpu(name) for name in machine.names(DEVICES)):
        where = "the host does not pass them on" if virtual else "the kernel has no driver for them"
        return COUNTERS.found(
            MINOR,
            f"there are no hardware counters: {where}; software events and tracepoints can count",
            advice="Only the host can change it: a virtual PMU (libvirt: <pmu state='on'/>; in a "
            "cloud a metal instance)."
            if virtual
            else "For claims about hardware counters race on another machine.",
        )
    if virtual:
        return COUNTERS.found(
            MINOR,
            "the hardware counters are virtual: the host may give fewer or none while it runs "
            "others",
            advice="Trust a counter only if it ran all the time (100 % in the ledger); perf "
            "extrapolates the others.",
        )
    if machine.text(WATCHDOG) == "1":
        return COUNTERS.found(
            MINOR,
            "the kernel's watchdog holds one hardware counter of each CPU: the others take turns",
            fix=("sudo sysctl kernel.nmi_watchdog=0",),
            undo=("sudo sysctl kernel.nmi_watchdog=1",),
        )
    return COUNTERS.found(FINE, "the CPU's own counters are available")


def is_cpu(device: str) -> bool:
    """The names under which kernels offer a CPU's counters."""
    return device in ("cpu", "cpu_core", "cpu_atom") or device.startswith(("armv", "apple_"))


def measure_counters(finding: Finding, bench: Bench) -> Finding:
    """It changes nothing: whatever counting costs is in no time, only in counted trials."""
    return finding.measured([bench.perf_cost], finding.level)


# ---- What perf may count ----

PARANOID = Subject(
    "paranoid",
    "What perf may not count is missing from every table: a server's context switches and most of "
    "its CPU time happen in the kernel.",
)
ALL, OWN_KERNEL, USER_ONLY = -1, 1, 2


def inspect_paranoid(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    value = machine.number("/proc/sys/kernel/perf_event_paranoid")
    if value is None:
        says = "the kernel does not say what perf may count"
        return PARANOID.found(UNKNOWN, says, advice="Try it: perf stat true")
    words = f"kernel.perf_event_paranoid is {value}"
    if machine.may(CAP_PERFMON) or machine.may(CAP_SYS_ADMIN):
        return PARANOID.found(FINE, f"{words}, which does not apply to this user")
    if value <= ALL:
        return PARANOID.found(FINE, f"{words}: everything may be counted")
    if value <= OWN_KERNEL:
        lacking = "all but tracepoints: no system calls are counted"
    elif value == USER_ONLY:
        lacking = "no context switches, and nothing of what is done in the kernel"
    else:
        lacking = "perf may count nothing"
    return PARANOID.found(
        MINOR,
        f"{words}: {lacking}",
        fix=(f"sudo sysctl kernel.perf_event_paranoid={ALL}",),
        undo=(f"sudo sysctl kernel.perf_event_paranoid={value}",),
        advice="Tracepoints also need to be read: sudo mount -o remount,mode=755 "
        "/sys/kernel/tracing. Until the next boot every user may then count every process.",
    )


# ---- Control groups ----

ACCOUNTING = Subject(
    "accounting",
    "Without a control group a server's CPU time is that of its process, which misses what a "
    "thread runs while it exits: with a thread per client 1.7 % where each request scans /proc, 7 "
    "% where it does not. Designs that create no threads lose nothing.",
)
MOUNT = "/sys/fs/cgroup/unified"


def inspect_accounting(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    if setup.control_groups:
        return ACCOUNTING.found(FINE, "CPU time is charged to a control group of each side")
    instead = "CPU time is that of the server's process"
    if not machine.is_root():
        says = f"only root can create control groups: {instead}"
        return ACCOUNTING.found(MINOR, says, fix=("sudo regatta race",))
    mounts = (machine.text("/proc/self/mounts") or "").splitlines()
    if any(line.split()[2:3] == ["cgroup2"] for line in mounts):
        return ACCOUNTING.found(
            MINOR,
            f"control groups cannot be created here: {instead}",
            advice="In a container they are read-only unless it is privileged: use docker run "
            "--privileged, or race on the host.",
        )
    return ACCOUNTING.found(
        MINOR,
        f"control groups of version 2 are not mounted: {instead}",
        fix=(f"sudo mkdir -p {MOUNT} && sudo mount -t cgroup2 none {MOUNT}",),
        undo=(f"sudo umount {MOUNT}",),
    )


# ---- Interrupts ----

IRQ_TIME = Subject(
    "irq-time",
    "The kernel receives packets in interrupts. Their time is charged to the program they "
    "interrupt, to none if the CPU was idle, and with IRQ_TIME_ACCOUNTING never to any. The "
    "report's second account, CPU busy per request, includes all of it.",
)


def inspect_irq_time(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    uncharged = kernel_config.irq_time_accounting(machine.root)
    if uncharged is None:
        return IRQ_TIME.found(
            UNKNOWN,
            "the kernel does not say whether time in interrupts is charged to any program",
            advice="See: grep IRQ_TIME_ACCOUNTING /boot/config-$(uname -r)",
        )
    if uncharged:
        return IRQ_TIME.found(
            MINOR,
            "the kernel was built to charge time in interrupts to no program "
            "(IRQ_TIME_ACCOUNTING): with a stable clock, server CPU misses the cost of receiving",
            advice="Read CPU busy per request too; on x86 boot with tsc=noirqtime to charge it "
            "to the interrupted program.",
        )
    return IRQ_TIME.found(FINE, "time in interrupts is charged to the interrupted program")
