"""The parts of a calibration, in the order in which they run."""

from __future__ import annotations

from regatta.calibrate import counters, false_alarms, power, raced, stars, stopped, window
from regatta.calibrate.goals import Part


def all_parts() -> tuple[Part, ...]:
    """Every part of a whole calibration."""
    return (
        false_alarms.PART,
        power.PART,
        stars.PART,
        stopped.PART,
        counters.PART,
        window.PART,
        *raced.PARTS,
    )
