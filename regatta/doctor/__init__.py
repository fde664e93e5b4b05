"""The doctor: what on this machine spoils a race, how much, and what to do about it."""

from regatta.doctor.activity import Activity, watch
from regatta.doctor.examine import EXAMINE_S, examine, serious
from regatta.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Effect, Finding, RaceSetup
from regatta.doctor.machine import Machine

__all__ = [
    "FINE",
    "EXAMINE_S",
    "MINOR",
    "SERIOUS",
    "UNKNOWN",
    "Activity",
    "Effect",
    "Finding",
    "Machine",
    "RaceSetup",
    "examine",
    "serious",
    "watch",
]
