"""All checks of a machine, in the order of the report: a table of what each looks at, why it
matters to a race, and which probe measures how much."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from regatta.checks.doctor import cpus, kernel
from regatta.checks.doctor.activity import Activity, watch
from regatta.checks.doctor.bench import Bench
from regatta.checks.doctor.finding import (
    FINE,
    MINOR,
    NEGLIGIBLE_PERCENT,
    SERIOUS,
    UNKNOWN,
    Effect,
    Finding,
    RaceSetup,
    level_of,
    worst,
)
from regatta.checks.doctor.machine import Machine
from regatta.errors import RegattaError

EXAMINE_S = 1.0
GLANCE_S = 0.2
"""Before each race: short, to delay the race little."""


@dataclass(frozen=True)
class Gauge:
    """How much a finding matters here."""

    name: str
    """The name of a property of the bench."""
    level: Callable[[str, list[Effect]], str]
    """The new level, from the old one and the effects."""
    advice: str = ""
    """What to do if the finding is not fine and has no remedy of its own."""


@dataclass(frozen=True)
class Check:
    matters: str
    look: Callable[[Machine, RaceSetup, Activity], Finding]
    measure: Gauge | None = None
    """None if there is nothing to measure."""


SLOW_WAKE_US = 100
"""Delay of a wake-up; less than this is comparable to a context switch and back."""


def after_ramp(level: str, effects: list[Effect]) -> str:
    """Follows from how long the CPU stays slow, not from the governor's name."""
    if level == UNKNOWN:
        return level_of(effects[0])
    return MINOR if level == SERIOUS and effects[0].high < NEGLIGIBLE_PERCENT else level


CHECKS = {
    "cpus": Check(
        "Server and client need separate CPUs, or each slows the other down. perf, the lab and the "
        "kernel need time too; with two CPUs they take it from the client.",
        cpus.number,
    ),
    "cpu-kinds": Check(
        "A small core takes about twice as long for the same request. Server and client may be "
        "pinned to different kinds, but neither may move between kinds during a race.",
        cpus.kinds,
    ),
    "smt": Check(
        "Two CPUs of one core share its execution units: while one is busy, the other is a third "
        "to a half slower. If the client runs on the server's sibling, it slows the server down.",
        cpus.cores,
        Gauge(
            "neighbour",
            # Computing slows down only if the core is shared.
            lambda level, effects: level_of(effects[0]) if level == FINE else level,
            "The host may present one core as two CPUs, or run other guests on it: measure again "
            "when nothing else runs, or rent whole cores (an instance type without SMT).",
        ),
    ),
    "governor": Check(
        "A CPU that slows down when idle makes requests more expensive under a light load and at "
        "the start of a trial. That looks like a difference between designs, but is not.",
        cpus.governor,
        Gauge(
            "ramp", after_ramp, "Set the power profile of the firmware or the host to performance."
        ),
    ),
    "turbo": Check(
        "Turbo speed depends on temperature and on how many CPUs are busy: a design that keeps "
        "more CPUs busy, or runs later, gets a slower machine.",
        cpus.turbo,
    ),
    "idle": Check(
        "When a server waits for requests its CPU may sleep, and the wake-up is part of the "
        "latency: at low rates, most of it. Designs that block more often pay it more often.",
        cpus.idle,
        Gauge(
            "wake",
            lambda _, effects: FINE if effects[0].high < SLOW_WAKE_US else MINOR,
            "Keep the CPUs awake: boot with processor.max_cstate=1 (Intel: "
            "intel_idle.max_cstate=1 too), or on a virtual machine with cpuidle_haltpoll.force=1.",
        ),
    ),
    "power": Check(
        "On battery a machine limits its speed, more as the battery drains and the case heats up: "
        "designs that run later get a slower machine.",
        cpus.power,
    ),
    "load": Check(
        "Another program on the server's CPU takes time and cache from it: requests wait and cost "
        "more. Both sides are pinned and cannot move away.",
        cpus.load,
        Gauge("others", worst, "See which programs: top -b -n 1 | head -n 15"),
    ),
    "steal": Check(
        "While the host runs another guest, requests wait. The host may report that time as steal, "
        "or not at all; then only jumps of the clock reveal it. Nothing is stolen from an idle "
        "CPU, so an idle machine looks better than it is.",
        cpus.steal,
        Gauge(
            "unseen",
            # Jumps of the clock decide: the host may not report steal.
            lambda level, effects: worst(level if level == SERIOUS else FINE, effects),
            "Move interrupts to CPUs that do not race: /proc/interrupts lists them, "
            "/proc/irq/NUMBER/smp_affinity_list sets their CPUs.",
        ),
    ),
    "quota": Check(
        "A container with a CPU quota runs at full speed until the quota is used up, then stops "
        "for the rest of the period (100 ms): latencies show stalls that no design caused.",
        cpus.quota,
    ),
    "clock": Check(
        "The client reads the clock for each request, the kernel for each context switch. A slow "
        "clock adds up to a microsecond to every latency and to the CPU time of designs that "
        "switch often.",
        kernel.clock,
    ),
    "counters": Check(
        "Hardware counters show why a design wins: cycles, instructions, cache misses. Without "
        'them standings stay valid, but claims about counters are "not measurable here".',
        kernel.counters,
    ),
    "paranoid": Check(
        "Events that perf may not count are missing from all tables. Context switches and most of "
        "the CPU time of a server happen in the kernel.",
        kernel.paranoid,
    ),
    "accounting": Check(
        "Without a control group, CPU time is that of the server's process, which misses the time "
        "of a thread while it exits: for thread-per-client 1.7 % if each request scans /proc, 7 % "
        "if not. Designs that create no threads are not affected.",
        kernel.accounting,
    ),
    "irq-time": Check(
        "The kernel receives packets in interrupts. Their time is charged to the interrupted "
        "program, to none if the CPU was idle, and with IRQ_TIME_ACCOUNTING always to none. The "
        "report's second account, CPU busy per request, includes all of it.",
        kernel.irq_time,
    ),
    "steering": Check(
        "A virtual cable delivers packets on the CPU that sends them. Without steering, the "
        "client's CPU does the server's TCP receive work and wakes its workers, and the server's "
        "CPU does the client's. Designs that wake more workers look cheaper than they are.",
        kernel.steering,
    ),
    "descriptors": Check(
        "Each connection needs a descriptor on each side. Beyond the limit, connections are "
        "refused and the trial fails.",
        kernel.descriptors,
    ),
    "tasks": Check(
        "Designs with a thread or process per connection, and the client's thread engine, create "
        "one task per connection. Beyond the limit the trial fails.",
        kernel.tasks,
    ),
    "ports": Check(
        "A port stays in use for 60 s after its connection closes (TIME_WAIT). A load of short "
        "connections that runs out of ports stalls or fails, whatever the design.",
        kernel.ports,
    ),
    "tracking": Check(
        "Rules of a firewall or of docker can make the kernel track all connections "
        "(nf_conntrack). Each packet then takes more time, a closed connection stays for two "
        "minutes, and when the table is full, new connections get no answer.",
        kernel.tracking,
    ),
    "backlog": Check(
        "Connections wait in the accept queue until the server accepts them. When it is full, the "
        "kernel drops them silently and the client retries after a second, which adds a second of "
        "latency that no design caused.",
        kernel.backlog,
    ),
}


def examine(machine: Machine, setup: RaceSetup, activity: Activity) -> list[Finding]:
    """One finding a check, in the order of the checks."""
    return [
        replace(check.look(machine, setup, activity), name=name, matters=check.matters)
        for name, check in CHECKS.items()
    ]


def measure(findings: list[Finding], bench: Bench) -> list[Finding]:
    """The findings with the results of the probes. A failed probe is noted in its finding."""
    return [measured(finding, CHECKS[finding.name].measure, bench) for finding in findings]


def measured(finding: Finding, how: Gauge | None, bench: Bench) -> Finding:
    if how is None:
        return finding
    try:
        effects: list[Effect] = getattr(bench, how.name)
    except (RegattaError, OSError) as error:
        words = error.strerror if isinstance(error, OSError) else str(error)
        return replace(finding, unmeasured=words or type(error).__name__)
    level = how.level(finding.level, effects)
    advice = "" if finding.advice == cpus.MEASURE_IT else finding.advice
    if level != FINE and not finding.fix:
        advice = advice or how.advice
    return replace(finding, effects=tuple(effects), level=level, advice=advice)


def serious(setup: RaceSetup, machine: Machine | None = None) -> dict[str, str]:
    """The serious findings before a race, by the name of the check."""
    machine = machine or Machine()
    findings = examine(machine, setup, watch(machine, GLANCE_S))
    return {finding.name: finding.says for finding in findings if finding.level == SERIOUS}
