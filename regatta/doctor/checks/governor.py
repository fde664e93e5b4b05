"""The frequency governor: does a CPU run at one speed, or at one that follows the load?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from regatta.doctor.activity import Activity
from regatta.doctor.finding import (
    FINE,
    MEASURE_IT,
    MINOR,
    NEGLIGIBLE_PERCENT,
    SERIOUS,
    UNKNOWN,
    Finding,
    Situation,
    level_of,
)
from regatta.doctor.machine import Machine
from regatta.machine import environment
from regatta.study.cpus import cpus_text

if TYPE_CHECKING:
    from regatta.doctor.probes.bench import Bench

NAME = "governor"
BEYOND = "The firmware or the host decides: look for its power profile, and set performance."
STEADY = "performance"
CPU = "/sys/devices/system/cpu"
MATTERS = (
    "A CPU that slows down when it has little to do makes the same request dearer under a light "
    "load than under a heavy one, and the first requests of each trial dearer than the rest; that "
    "looks like a difference between designs and is none."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    found = environment.governors(machine.path(CPU))
    pinned = {cpu: found[cpu] for cpu in situation.pinned if cpu in found}
    if not pinned:
        who = "the host does" if machine.hypervisor() else "the firmware may"
        return Finding(
            NAME,
            UNKNOWN,
            f"the kernel does not set the frequency of {cpus_text(situation.pinned)}; {who}",
            MATTERS,
            advice=MEASURE_IT,
        )
    slow = {cpu: name for cpu, name in pinned.items() if name != STEADY}
    if not slow:
        return Finding(NAME, FINE, f"{cpus_text(set(pinned))} run under {STEADY}", MATTERS)
    told = "; ".join(
        f"{cpus_text({cpu for cpu in slow if slow[cpu] == name})}: {name}"
        for name in sorted(set(slow.values()))
    )
    driver = machine.text(f"{CPU}/cpu{min(slow)}/cpufreq/scaling_driver")
    via = f" (driver {driver})" if driver else ""
    return Finding(
        NAME,
        SERIOUS,
        f"the speed follows the load: {told}{via}",
        MATTERS,
        fix=(command(STEADY, found, set(found)),),
        undo=tuple(
            command(name, found, {cpu for cpu in found if found[cpu] == name})
            for name in sorted(set(found.values()))
        ),
    )


def command(governor: str, found: dict[int, str], cpus: set[int]) -> str:
    """What sets the governor of these CPUs, without any tool that may be missing."""
    if cpus == set(found):
        return f"echo {governor} | sudo tee {CPU}/cpu*/cpufreq/scaling_governor"
    paths = " ".join(f"{CPU}/cpu{cpu}/cpufreq/scaling_governor" for cpu in sorted(cpus))
    return f"echo {governor} | sudo tee {paths}"


def measure(finding: Finding, bench: Bench) -> Finding:
    """What counts is how long a CPU stays slow, not what its governor is called."""
    effect = bench.ramp
    level = finding.level
    if level == UNKNOWN:
        level = level_of(effect)
    elif level == SERIOUS and effect.high < NEGLIGIBLE_PERCENT:
        level = MINOR
    return finding.measured([effect], level, advice=BEYOND)
