"""Turbo: may a CPU run above its nominal frequency, for as long as heat and neighbours allow?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from regatta.doctor.activity import Activity
from regatta.doctor.finding import (
    FINE,
    MEASURE_IT,
    MINOR,
    UNKNOWN,
    Finding,
    Situation,
    level_of,
)
from regatta.doctor.machine import Machine

if TYPE_CHECKING:
    from regatta.doctor.probes.bench import Bench

NAME = "turbo"
STEADY_PERCENT = 2.0
"""Half of what trials of the quick race differ by: speed is then not what makes them differ."""
BEYOND = "The firmware or the host decides: a race with more blocks evens it out."
CPU = "/sys/devices/system/cpu"
MATTERS = (
    "How fast a CPU runs in turbo depends on its heat and on how many others are busy: a design "
    "that keeps more CPUs busy, or that is raced later, gets a slower machine."
)
# Where the kernel keeps it, what it says when turbo is on, and the name of the file's switch.
SWITCHES = ((f"{CPU}/intel_pstate/no_turbo", "0"), (f"{CPU}/cpufreq/boost", "1"))


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del situation, activity
    for path, on in SWITCHES:
        state = machine.text(path)
        if state is None:
            continue
        if state != on:
            return Finding(NAME, FINE, "turbo is off", MATTERS)
        off = "1" if on == "0" else "0"
        return Finding(
            NAME,
            MINOR,
            "turbo is on: the speed depends on heat and on the other CPUs",
            MATTERS,
            fix=(f"echo {off} | sudo tee {path}",),
            undo=(f"echo {on} | sudo tee {path}",),
        )
    return Finding(
        NAME,
        UNKNOWN,
        "the kernel does not tell whether turbo is on",
        MATTERS,
        advice=MEASURE_IT,
    )


def measure(finding: Finding, bench: Bench) -> Finding:
    effect = bench.steadiness
    level = FINE if finding.level == FINE else level_of(effect, STEADY_PERCENT)
    return finding.measured([effect], level, advice=BEYOND)
