"""Without steering the server's CPU time includes the client's receiving."""

from regatta.analysis.results import Analysis
from regatta.machine.steering import OWN_SIDE

READ = "(docs/reading.md, who pays for what)"


def unsteered_sentence(analysis: Analysis) -> str:
    """Empty where they were, and where nothing is known of where the race was."""
    placement = analysis.environment.get("placement")
    if not isinstance(placement, dict) or placement.get("steering") == OWN_SIDE:
        return ""
    if analysis.environment.get("irq_time_accounting") is True:
        return (
            "Packets were not steered: CPU busy per request includes the client's receive path and "
            "lacks the server's own; this kernel charges interrupt time to no program "
            f"{READ}."
        )
    return (
        "Packets were not steered: server CPU per request includes the client's receive path and "
        "lacks the server's own, as does CPU busy: both accounts may agree and be wrong "
        f"{READ}."
    )
