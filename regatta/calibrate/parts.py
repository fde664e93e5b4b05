"""The parts of a calibration, in the order in which they run."""

from regatta.calibrate import past_races, star_errors
from regatta.calibrate.equals import part as equals
from regatta.calibrate.goals import CalibrationPart
from regatta.calibrate.instruments import counters, stopped, window
from regatta.calibrate.power import part as power


def all_parts() -> tuple[CalibrationPart, ...]:
    """Every part of a whole calibration."""
    return (
        equals.PART,
        power.PART,
        star_errors.PART,
        stopped.PART,
        counters.PART,
        window.PART,
        *past_races.PARTS,
    )
