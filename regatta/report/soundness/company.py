"""What running side by side costs: a table, and a sentence where it changes a comparison."""

from regatta.analysis.results import Analysis
from regatta.report.text.numbers import between, plural, times
from regatta.report.text.table import Table

TITLE = "Alone and side by side"
SAYS = (
    "Server CPU per request of a server that runs alone ÷ side by side with the others, in the "
    "blocks just before and after, over all steps. An effect common to all changes no "
    "comparison; the last columns show the rest."
)


def company_table(analysis: Analysis) -> Table | None:
    """A row a contender; None where none was raced alone."""
    if not analysis.company:
        return None
    rows = [
        [
            one.contender,
            f"{one.blocks}",
            f"{times(*ratio)}\n{between(*ratio)}",
            times(one.beside),
            "changes it" if one.differs else "no difference seen",
        ]
        for one in analysis.company
        for ratio in [(one.ratio, one.low, one.high)]
    ]
    header = ["design", "blocks alone", "alone ÷ side by side", "÷ mean of all", "a comparison"]
    return Table(TITLE, SAYS, header, rows)


def company_sentence(analysis: Analysis) -> str:
    """Empty unless company costs somebody more than it costs the others."""
    costs = [
        f"raced alone, {one.contender} costs {times(*ratio)} ({between(*ratio)}) "
        f"of what it costs side by side, {times(one.beside)} relative to all "
        f"({plural(one.blocks, 'block')})"
        for one in analysis.company
        if one.differs
        for ratio in [(one.ratio, one.low, one.high)]
    ]
    return f"Running side by side changes a comparison: {'; '.join(costs)}." if costs else ""
