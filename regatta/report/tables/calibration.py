"""The calibration that was valid when the race began: a sentence and a table."""

from typing import Any

from regatta.analysis.results import Analysis
from regatta.ledger.inputs.calibration import Calibration, to_plain
from regatta.report.text.calibration import aa_state, headline
from regatta.report.text.numbers import capitalized
from regatta.report.text.table import Table

NONE = (
    "This machine had not been calibrated: how often its verdicts are wrong is unknown. "
    "`regatta calibrate` measures it."
)
SAYS = (
    "Measured on this machine: how often equal copies of one server are called different, how "
    "small a difference is detectable, and whether times and counts are right."
)


def calibration_sentence(analysis: Analysis) -> str:
    calibration = analysis.calibration
    if calibration is None:
        return NONE
    if isinstance(calibration, str):
        return f"The calibration of this machine could not be read: {calibration}."
    missed = ", ".join(goal.name for goal in calibration.missed)
    words = headline(calibration)
    sentence = f"{capitalized(words)}{f'; missed: {missed}' if missed else ''}"
    return f"{sentence}. {aa_state(calibration)}."


def calibration_table(analysis: Analysis) -> Table | None:
    """A row a goal; None without a readable calibration."""
    calibration = analysis.calibration
    if not isinstance(calibration, Calibration):
        return None
    rows = [
        [goal.name, goal.goal, goal.measured, goal.outcome, goal.detail]
        for goal in calibration.goals
    ]
    header = ["what", "goal", "measured", "", "how"]
    return Table("How sound the instrument is", SAYS, header, rows)


def calibration_json(analysis: Analysis) -> dict[str, Any] | None:
    """The calibration, or what is wrong with its file; None if there was none."""
    calibration = analysis.calibration
    if isinstance(calibration, str):
        return {"problem": calibration}
    return None if calibration is None else to_plain(calibration)
