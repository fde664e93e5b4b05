"""Without steering the server's CPU time includes the client's receiving."""

from regatta.analysis.analyse import Analysis
from regatta.machine.steering import OWN_SIDE

READ = "(docs/reading.md, who pays for what)"


def unsteered_sentence(analysis: Analysis) -> str:
    """Empty where they were, and where nothing is known of where the race was."""
    place = analysis.environment.get("placement")
    if not isinstance(place, dict) or place.get("steering") == OWN_SIDE:
        return ""
    if analysis.environment.get("irq_time_accounting") is True:
        return (
            "Packets were not steered: CPU busy per request has the client's receive path in it, "
            "and lacks the server's own; a kernel that keeps time in interrupts apart charges "
            f"neither to the server {READ}."
        )
    return (
        "Packets were not steered: server CPU per request has the client's receive path in it, "
        "and lacks the server's own; CPU busy as well, so that the two accounts may rank alike and "
        f"be wrong {READ}."
    )
