"""What company costs: a table, and a sentence where it moves a comparison."""

from regatta.analysis.results import Analysis
from regatta.analysis.soundness.company import Company
from regatta.report.text.numbers import DASH, plural, times
from regatta.report.text.table import Table

TITLE = "Alone and in company"
SAYS = (
    "Server CPU per request of a server racing alone ÷ beside the others, in the blocks just "
    "before and after, over all steps. What all have in common moves no comparison; the last "
    "columns show what is left."
)


def company_table(analysis: Analysis) -> Table | None:
    """A row a contender; None where none was raced alone."""
    if not analysis.company:
        return None
    rows = [
        [
            one.contender,
            f"{one.blocks}",
            f"{times(one.ratio)}\n{times(one.low)}{DASH}{times(one.high)}",
            times(one.beside),
            "moves it" if one.differs else "no difference seen",
        ]
        for one in analysis.company
    ]
    header = ["design", "blocks alone", "alone ÷ in company", "÷ mean of all", "a comparison"]
    return Table(TITLE, SAYS, header, rows)


def company_sentence(analysis: Analysis) -> str:
    """Empty unless company costs somebody more than it costs the others."""
    moved = [one for one in analysis.company if one.differs]
    if not moved:
        return ""
    return f"Company matters here: {'; '.join(map(_told, moved))}."


def _told(one: Company) -> str:
    return (
        f"raced alone, {one.contender} costs {times(one.ratio)} ({times(one.low)} to "
        f"{times(one.high)}) of what it costs in company, {times(one.beside)} relative to all "
        f"({plural(one.blocks, 'block')})"
    )
