"""Turbo: may a CPU run above its nominal frequency, for as long as heat and neighbours allow?"""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.finding import FINE, MINOR, UNKNOWN, Finding, Situation
from regatta.doctor.machine import Machine

NAME = "turbo"
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
        advice="Measure it: regatta doctor --measure tells how steady the speed is.",
    )
