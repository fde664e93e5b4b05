"""All checks of a machine, in the order in which a person may want to go through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from regatta.doctor.activity import Activity, watch
from regatta.doctor.checks import (
    clock,
    counters,
    cpus,
    governor,
    idle,
    limits,
    load,
    network,
    paranoid,
    power,
    quota,
    smt,
    steal,
    turbo,
)
from regatta.doctor.finding import SERIOUS, Finding, Situation
from regatta.doctor.machine import Machine

LOOK_S = 1.0
GLANCE_S = 0.2
"""Before each race: so short that a race is not noticeably longer for it."""

Look = Callable[[Machine, Situation, Activity], Finding]


@dataclass(frozen=True)
class Check:
    name: str
    look: Look


CHECKS = (
    Check(cpus.ENOUGH, cpus.look_at_number),
    Check(cpus.KINDS, cpus.look_at_kinds),
    Check(smt.NAME, smt.look),
    Check(governor.NAME, governor.look),
    Check(turbo.NAME, turbo.look),
    Check(idle.NAME, idle.look),
    Check(power.NAME, power.look),
    Check(load.NAME, load.look),
    Check(steal.NAME, steal.look),
    Check(quota.NAME, quota.look),
    Check(clock.NAME, clock.look),
    Check(counters.NAME, counters.look),
    Check(paranoid.NAME, paranoid.look),
    Check(limits.DESCRIPTORS, limits.look_at_descriptors),
    Check(limits.TASKS, limits.look_at_tasks),
    Check(network.PORTS, network.look_at_ports),
    Check(network.BACKLOG, network.look_at_backlog),
)


def examine(machine: Machine, situation: Situation, activity: Activity) -> list[Finding]:
    """What every check says, in their order."""
    return [check.look(machine, situation, activity) for check in CHECKS]


def serious(situation: Situation, machine: Machine | None = None) -> dict[str, str]:
    """What a race should know before it starts: the serious findings, by the check's name."""
    machine = machine or Machine()
    findings = examine(machine, situation, watch(machine, GLANCE_S))
    return {finding.name: finding.says for finding in findings if finding.level == SERIOUS}


def warnings(found: dict[str, str]) -> tuple[str, ...]:
    """The same, a line each."""
    return tuple(
        f"{name}: {says}; `regatta doctor` says what to do" for name, says in found.items()
    )
