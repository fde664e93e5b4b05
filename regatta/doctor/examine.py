"""All checks of a machine, in the order in which a person may go through them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from regatta.doctor.activity import Activity, watch
from regatta.doctor.checks import counting, cpus, engines, limits, others, speed
from regatta.doctor.finding import SERIOUS, Finding, RaceSetup, Subject
from regatta.doctor.machine import Machine
from regatta.doctor.probes.bench import Bench
from regatta.errors import RegattaError

EXAMINE_S = 1.0
GLANCE_S = 0.2
"""Before each race: so short that a race is not noticeably longer for it."""

Inspect = Callable[[Machine, RaceSetup, Activity], Finding]


Measure = Callable[[Finding, Bench], Finding]


@dataclass(frozen=True)
class Check:
    subject: Subject
    inspect: Inspect
    measure: Measure | None = None
    """How much it matters here; None where that is no question of degree."""

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
    Check(others.LOAD, others.inspect_load, others.measure_load),
    Check(others.STEAL, others.inspect_steal, others.measure_steal),
    Check(others.QUOTA, others.inspect_quota),
    Check(counting.CLOCK, counting.inspect_clock, counting.measure_clock),
    Check(counting.COUNTERS, counting.inspect_counters, counting.measure_counters),
    Check(counting.PARANOID, counting.inspect_paranoid),
    Check(counting.ACCOUNTING, counting.inspect_accounting),
    Check(counting.IRQ_TIME, counting.inspect_irq_time),
    Check(limits.STEERING, limits.inspect_steering),
    Check(limits.DESCRIPTORS, limits.inspect_descriptors),
    Check(limits.TASKS, limits.inspect_tasks),
    Check(limits.PORTS, limits.inspect_ports),
    Check(limits.BACKLOG, limits.inspect_backlog),
    Check(engines.CONTAINERS, engines.inspect_containers),
)


def examine(machine: Machine, setup: RaceSetup, activity: Activity) -> list[Finding]:
    """What every check says, in their order."""
    return [check.inspect(machine, setup, activity) for check in CHECKS]


def measure(findings: list[Finding], bench: Bench) -> list[Finding]:
    """The same findings, with what the probes say; a probe that fails says why it did."""
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
    """What a race should know before it starts: the serious findings, by the check's name."""
    machine = machine or Machine()
    findings = examine(machine, setup, watch(machine, GLANCE_S))
    return {finding.name: finding.says for finding in findings if finding.level == SERIOUS}
