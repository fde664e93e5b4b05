"""All checks of a machine, in the order in which a person may go through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from regatta.doctor.activity import Activity, watch
from regatta.doctor.checks import (
    accounting,
    clock,
    counters,
    cpus,
    governor,
    idle,
    irq_time,
    limits,
    load,
    network,
    paranoid,
    power,
    quota,
    smt,
    steal,
    steering,
    turbo,
)
from regatta.doctor.finding import SERIOUS, Finding, Situation
from regatta.doctor.machine import Machine
from regatta.errors import RegattaError

if TYPE_CHECKING:
    from regatta.doctor.probes.bench import Bench

LOOK_S = 1.0
GLANCE_S = 0.2
"""Before each race: so short that a race is not noticeably longer for it."""

Look = Callable[[Machine, Situation, Activity], Finding]


Measure = Callable[[Finding, "Bench"], Finding]


@dataclass(frozen=True)
class Check:
    name: str
    look: Look
    measure: Measure | None = None
    """How much it matters here; None where that is no question of degree."""


CHECKS = (
    Check(cpus.ENOUGH, cpus.look_at_number),
    Check(cpus.KINDS, cpus.look_at_kinds),
    Check(smt.NAME, smt.look, smt.measure),
    Check(governor.NAME, governor.look, governor.measure),
    Check(turbo.NAME, turbo.look, turbo.measure),
    Check(idle.NAME, idle.look, idle.measure),
    Check(power.NAME, power.look),
    Check(load.NAME, load.look, load.measure),
    Check(steal.NAME, steal.look, steal.measure),
    Check(quota.NAME, quota.look),
    Check(clock.NAME, clock.look, clock.measure),
    Check(counters.NAME, counters.look, counters.measure),
    Check(paranoid.NAME, paranoid.look),
    Check(accounting.NAME, accounting.look),
    Check(irq_time.NAME, irq_time.look),
    Check(steering.NAME, steering.look),
    Check(limits.DESCRIPTORS, limits.look_at_descriptors),
    Check(limits.TASKS, limits.look_at_tasks),
    Check(network.PORTS, network.look_at_ports),
    Check(network.BACKLOG, network.look_at_backlog),
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
