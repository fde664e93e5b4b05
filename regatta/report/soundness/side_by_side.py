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


def side_by_side_table(analysis: Analysis) -> Table | None:
    """A row a contender; None where none was raced alone."""
    if not analysis.side_by_side:
        return None
    rows = [
        [
            one.contender,
            f"{one.blocks}",
            f"{times(*ratio)}\n{between(*ratio)}",
            times(one.beside),
            "changed" if one.differs else "not distinguishable",
        ]
        for one in analysis.side_by_side
        for ratio in [(one.ratio, one.low, one.high)]
    ]
    header = ["design", "blocks alone", "alone ÷ side by side", "÷ mean of all", "comparison"]
    return Table(TITLE, SAYS, header, rows)


def side_by_side_sentence(analysis: Analysis) -> str:
    """Empty unless running side by side costs one contender more than the others."""
    costs = [
        f"raced alone, {one.contender} costs {times(*ratio)} times ({between(*ratio)}) "
        f"what it costs side by side, {times(one.beside)} relative to all "
        f"({plural(one.blocks, 'block')})"
        for one in analysis.side_by_side
        if one.differs
        for ratio in [(one.ratio, one.low, one.high)]
    ]
    return f"Running side by side changes a comparison: {'; '.join(costs)}." if costs else ""
