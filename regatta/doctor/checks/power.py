"""Battery: a machine that saves power slows down by its own rules."""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.finding import FINE, SERIOUS, Finding, Situation
from regatta.doctor.machine import Machine

NAME = "power"
FOLDER = "/sys/class/power_supply"
MATTERS = (
    "On its battery a machine caps its speed, more so as the battery empties and the case heats "
    "up: the later designs of a race get a slower machine than the first."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del situation, activity
    for name in machine.names(FOLDER):
        # A wireless mouse has a battery too.
        if machine.text(f"{FOLDER}/{name}/scope") == "Device":
            continue
        if machine.text(f"{FOLDER}/{name}/status") == "Discharging":
            return Finding(
                NAME,
                SERIOUS,
                f"the machine runs on its battery ({name})",
                MATTERS,
                advice="Plug it in before a race.",
            )
    return Finding(NAME, FINE, "the machine does not run on a battery", MATTERS)
