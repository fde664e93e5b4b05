"""Steal: time that a virtual machine wanted to run and did not get from its host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regatta.doctor.activity import Activity
from regatta.doctor.finding import (
    FINE,
    MINOR,
    NEGLIGIBLE_PERCENT,
    SERIOUS,
    Finding,
    Situation,
    level_of,
    worse,
)
from regatta.doctor.machine import Machine

if TYPE_CHECKING:
    from regatta.doctor.probes.bench import Bench

NAME = "steal"
MATTERS = (
    "While the host runs somebody else, a request stands still, and its clock does not. A host "
    "that takes time may count it as steal, or say nothing: then only a program that watches the "
    "clock sees it. An idle CPU is stolen nothing, so that a quiet machine looks better than it is."
)
INTERRUPTS = (
    "Let the interrupts go to CPUs that do not race: /proc/interrupts shows who they are, "
    "/proc/irq/NUMBER/smp_affinity_list says where they go."
)
ADVICE = (
    "No command inside of the machine changes it: race on a machine of your own or with CPUs of "
    "its own (a dedicated or metal instance), or take more blocks."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    host = machine.hypervisor()
    now = max((activity.steal.get(cpu, 0.0) for cpu in situation.pinned), default=0.0)
    stolen, wanted = activity.since_boot
    since_boot = 100 * stolen / max(1, wanted)
    if host is None and not stolen:
        return Finding(NAME, FINE, "no virtual machine, and nothing was stolen", MATTERS)
    told = (
        f"a virtual machine ({host or 'of an unknown host'}): {now:.1f} % of a CPU was stolen in "
        f"{activity.seconds:.1f} s, and since the boot {since_boot:.2g} % of what it wanted to run"
    )
    if now > NEGLIGIBLE_PERCENT:
        return Finding(NAME, SERIOUS, told, MATTERS, advice=ADVICE)
    return Finding(NAME, MINOR, told, MATTERS, advice=ADVICE)


def measure(finding: Finding, bench: Bench) -> Finding:
    """On a virtual machine nothing but the clock's own jumps tells; they decide."""
    effects = bench.lost["unseen"]
    level = SERIOUS if finding.level == SERIOUS else FINE
    for effect in effects:
        level = worse(level, level_of(effect))
    return finding.measured(effects, level, advice=INTERRUPTS)
