"""A figure of a table as text: the value and the half-width of its interval."""

from regatta.analysis.estimates import MEASURED, Estimate
from regatta.report.claims.words import published_value
from regatta.report.paper.elements import Column
from regatta.report.text.numbers import DASH, around


def figure_text(estimate: Estimate | None, column: Column) -> tuple[str, str]:
    """`612` and `4`. Without a bounded interval the second is empty; without a value the first is
    the reason. Thousands have commas, millions and billions end in ` M` and ` G`.
    """
    if estimate is None:
        return DASH, ""
    if column.source and estimate.value is not None:
        return published_value(estimate.value), ""
    return around(estimate)


def remark(estimate: Estimate | None) -> str:
    """` (client-bound)` or the like after a figure with a caveat; empty after others."""
    if estimate is None or estimate.value is None or estimate.state == MEASURED:
        return ""
    return f" ({estimate.state})"


def both_in_one(estimate: Estimate | None, column: Column) -> str:
    """`612 ± 4`."""
    return " ± ".join(part for part in figure_text(estimate, column) if part) + remark(estimate)
