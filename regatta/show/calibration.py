"""The calibration that was valid when a race began, in words and as a table."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from regatta.analysis.results import Analysis
from regatta.ledger.inputs.calibration import MET, MISSED, NOT_REFUTED, Calibration, Goal, to_plain
from regatta.show.numbers import capitalized
from regatta.show.text import duration
from regatta.show.view import FOLDED, Section, Table, plain_table

EQUALS = "equals: "
"""Prefix of all goal names of the A/A races."""
PAIRS = f"{EQUALS}standings of pairs"
NOT_RUN = "A/A: not run"


def headline(calibration: Calibration) -> str:
    """When it ran, with which version, and how many goals it met."""
    moment = datetime.fromtimestamp(calibration.taken_at, UTC).strftime("%d %B %Y, %H:%M UTC")
    kind = "quick calibration, which proves little," if calibration.quick else "calibration"
    error = f" with an injected error ({calibration.inject})" if calibration.inject else ""
    counts = {word: len(calibration.that_are(word)) for word in (MET, NOT_REFUTED, MISSED)}
    open_too = f", {counts[NOT_REFUTED]} not refuted" if counts[NOT_REFUTED] else ""
    return (
        f"{kind}{error} of {moment}, in {duration(calibration.elapsed_s)}, "
        f"by Regatta {calibration.regatta_version}: {counts[MET]} of "
        f"{sum(counts.values())} goals met{open_too}"
    )


def aa_state(calibration: Calibration) -> str:
    """How often equal copies were called different, if they were raced."""
    found = [goal for goal in calibration.goals if goal.name.startswith(EQUALS)]
    if not found:
        return NOT_RUN
    goal = next((goal for goal in found if goal.name.startswith(PAIRS)), found[0])
    if goal.measured == NOT_RUN:
        return NOT_RUN
    few = ", too few to prove it" if goal.met is None else ""
    return f"A/A: equal copies called different in {goal.measured} races{few}"


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


def goals_table(goals: Sequence[Goal]) -> Table:
    rows = [[one.name, one.goal, one.measured, one.outcome, one.detail] for one in goals]
    return plain_table("", SAYS, ["what", "goal", "measured", "", "how"], rows)


def calibration_json(analysis: Analysis) -> dict[str, Any] | None:
    """The calibration, or what is wrong with its file; None if there was none."""
    calibration = analysis.calibration
    if isinstance(calibration, str):
        return {"problem": calibration}
    return None if calibration is None else to_plain(calibration)


def calibration_section(analysis: Analysis) -> Section:
    known = analysis.calibration
    return Section(
        "How sound the instrument is",
        text=(calibration_sentence(analysis),),
        tables=(goals_table(known.goals),) if isinstance(known, Calibration) else (),
        rank=FOLDED,
        name="calibration",
    )
