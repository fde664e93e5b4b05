"""A calibration as a sentence."""

from datetime import UTC, datetime

from regatta.ledger.inputs.calibration import MET, MISSED, NOT_REFUTED, Calibration
from regatta.report.text.durations import duration

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
