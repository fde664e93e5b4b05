"""How sound the instrument was shown to be before the race: words and a table."""

from __future__ import annotations

from regatta.analysis.results import Analysis
from regatta.ledger.calibration import Calibration, from_plain
from regatta.report.text.calibration import aa_state, headline
from regatta.report.text.table import Table

KEY = "calibration"
NONE = (
    "This machine had not been calibrated: how often its verdicts are wrong is unknown. "
    "`regatta calibrate` measures it."
)
SAYS = (
    "Measured on this machine: how often equal copies of one server are told apart, how small a "
    "difference is detectable, and whether times and counts are right."
)


def calibration_sentence(analysis: Analysis) -> str:
    """In one sentence; empty for a ledger that says nothing of it."""
    if KEY not in analysis.environment:
        return ""
    calibration = _stored(analysis)
    if isinstance(calibration, str):
        return calibration
    missed = ", ".join(goal.name for goal in calibration.missed)
    told = headline(calibration)
    said = f"{told[0].upper()}{told[1:]}{f'; missed: {missed}' if missed else ''}"
    return f"{said}. {aa_state(calibration)}."


def calibration_table(analysis: Analysis) -> Table | None:
    """A row a goal; None where there is none to show."""
    calibration = _stored(analysis)
    if isinstance(calibration, str):
        return None
    rows = [
        [goal.name, goal.goal, goal.measured, goal.outcome, goal.detail]
        for goal in calibration.goals
    ]
    header = ["what", "goal", "measured", "", "how"]
    return Table("How sound the instrument is", SAYS, header, rows)


def _stored(analysis: Analysis) -> Calibration | str:
    plain = analysis.environment.get(KEY)
    if plain is None:
        return NONE
    problem = plain.get("problem") if isinstance(plain, dict) else None
    if isinstance(problem, str):
        return f"The calibration of this machine could not be read: {problem}."
    try:
        return from_plain(plain)
    except ValueError as error:
        return f"The calibration in this ledger cannot be read: {error}."
