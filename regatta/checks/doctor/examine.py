"""All checks of a machine, in the order of the report."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from regatta.checks.doctor.activity import Activity, watch
from regatta.checks.doctor.checks import contention, counting, cpus, limits, network, speed
from regatta.checks.doctor.finding import SERIOUS, Finding, RaceSetup, Subject
from regatta.checks.doctor.machine import Machine
from regatta.checks.doctor.probes.bench import Bench
from regatta.errors import RegattaError

EXAMINE_S = 1.0
GLANCE_S = 0.2
"""Before each race: short, to delay the race little."""

Inspect = Callable[[Machine, RaceSetup, Activity], Finding]
Measure = Callable[[Finding, Bench], Finding]


@dataclass(frozen=True)
class Check:
    subject: Subject
    inspect: Inspect
    measure: Measure | None = None
    """Measures how much it matters here; None if there is nothing to measure."""

    @property
    def name(self) -> str:
        return self.subject.name


CHECKS = (
    Check(cpus.ENOUGH, cpus.inspect_number),
    Check(cpus.KINDS, cpus.inspect_kinds),
    Check(cpus.SMT, cpus.inspect_smt, cpus.measure_smt),
    Check(speed.GOVERNOR, speed.inspect_governor, speed.measure_governor),
    Check(speed.TURBO, speed.inspect_turbo, speed.measure_turbo),
    Check(speed.IDLE, speed.inspect_idle, speed.measure_idle),
    Check(speed.POWER, speed.inspect_power),
    Check(contention.LOAD, contention.inspect_load, contention.measure_load),
    Check(contention.STEAL, contention.inspect_steal, contention.measure_steal),
    Check(contention.QUOTA, contention.inspect_quota),
    Check(counting.CLOCK, counting.inspect_clock, counting.measure_clock),
    Check(counting.COUNTERS, counting.inspect_counters, counting.measure_counters),
    Check(counting.PARANOID, counting.inspect_paranoid),
    Check(counting.ACCOUNTING, counting.inspect_accounting),
    Check(counting.IRQ_TIME, counting.inspect_irq_time),
    Check(network.STEERING, network.inspect_steering),
    Check(limits.DESCRIPTORS, limits.inspect_descriptors),
    Check(limits.TASKS, limits.inspect_tasks),
    Check(network.PORTS, network.inspect_ports),
    Check(network.TRACKING, network.inspect_tracking),
    Check(network.BACKLOG, network.inspect_backlog),
    Check(limits.CONTAINERS, limits.inspect_containers),
)


def examine(machine: Machine, setup: RaceSetup, activity: Activity) -> list[Finding]:
    """One finding a check, in the order of the checks."""
    return [check.inspect(machine, setup, activity) for check in CHECKS]


def measure(findings: list[Finding], bench: Bench) -> list[Finding]:
    """The findings with the results of the probes. A failed probe is noted in its finding."""
    checks = {check.name: check for check in CHECKS}
    return [measured(checks[finding.name], finding, bench) for finding in findings]


def measured(check: Check, finding: Finding, bench: Bench) -> Finding:
    if check.measure is None:
        return finding
    try:
        return check.measure(finding, bench)
    except (RegattaError, OSError) as error:
        words = error.strerror if isinstance(error, OSError) else str(error)
        return replace(finding, unmeasured=words or type(error).__name__)


def serious(setup: RaceSetup, machine: Machine | None = None) -> dict[str, str]:
    """The serious findings before a race, by the name of the check."""
    machine = machine or Machine()
    findings = examine(machine, setup, watch(machine, GLANCE_S))
    return {finding.name: finding.says for finding in findings if finding.level == SERIOUS}
