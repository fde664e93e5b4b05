"""Servers that were not at rest when their account was read."""

from regatta.analysis.results import Analysis
from regatta.report.text.numbers import plural


def restless_sentence(analysis: Analysis) -> str:
    """Empty where every account was read at rest."""
    if not analysis.restless:
        return ""
    names = sorted({noted.cell.contender for noted in analysis.restless})
    return (
        f"In {plural(len(analysis.restless), 'trial')} of {analysis.trials:,} the server was not "
        f"at rest at an end of a window ({', '.join(names)}): if it was busy before the load, "
        "its CPU time ends with the last answer, else 50 ms later."
    )
