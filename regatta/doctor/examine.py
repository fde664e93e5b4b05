"""All checks of a machine, in the order in which a person may go through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from regatta.doctor.activity import Activity, watch
from regatta.doctor.checks import counting, cpus, limits, others, speed
from regatta.doctor.finding import SERIOUS, Finding, Situation, Subject
from regatta.doctor.machine import Machine
from regatta.doctor.probes.bench import Bench
from regatta.errors import RegattaError

LOOK_S = 1.0
GLANCE_S = 0.2
"""Before each race: so short that a race is not noticeably longer for it."""

Look = Callable[[Machine, Situation, Activity], Finding]


Measure = Callable[[Finding, Bench], Finding]


@dataclass(frozen=True)
class Check:
    subject: Subject
    look: Look
    measure: Measure | None = None
    """How much it matters here; None where that is no question of degree."""

    @property
    def name(self) -> str:
        return self.subject.name


CHECKS = (
    Check(cpus.ENOUGH, cpus.look_at_number),
    Check(cpus.KINDS, cpus.look_at_kinds),
    Check(cpus.SMT, cpus.look_at_smt, cpus.measure_smt),
    Check(speed.GOVERNOR, speed.look_at_governor, speed.measure_governor),
    Check(speed.TURBO, speed.look_at_turbo, speed.measure_turbo),
    Check(speed.IDLE, speed.look_at_idle, speed.measure_idle),
    Check(speed.POWER, speed.look_at_power),
    Check(others.LOAD, others.look_at_load, others.measure_load),
    Check(others.STEAL, others.look_at_steal, others.measure_steal),
    Check(others.QUOTA, others.look_at_quota),
    Check(counting.CLOCK, counting.look_at_clock, counting.measure_clock),
    Check(counting.COUNTERS, counting.look_at_counters, counting.measure_counters),
    Check(counting.PARANOID, counting.look_at_paranoid),
    Check(counting.ACCOUNTING, counting.look_at_accounting),
    Check(counting.IRQ_TIME, counting.look_at_irq_time),
    Check(limits.STEERING, limits.look_at_steering),
    Check(limits.DESCRIPTORS, limits.look_at_descriptors),
    Check(limits.TASKS, limits.look_at_tasks),
    Check(limits.PORTS, limits.look_at_ports),
    Check(limits.BACKLOG, limits.look_at_backlog),
)


def examine(machine: Machine, situation: Situation, activity: Activity) -> list[Finding]:
    """What every check says, in their order."""
    return [check.look(machine, situation, activity) for check in CHECKS]


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


def serious(situation: Situation, machine: Machine | None = None) -> dict[str, str]:
    """What a race should know before it starts: the serious findings, by the check's name."""
    machine = machine or Machine()
    findings = examine(machine, situation, watch(machine, GLANCE_S))
    return {finding.name: finding.says for finding in findings if finding.level == SERIOUS}
