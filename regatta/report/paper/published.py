"""Published figures of the same quantities, from the sources of the study's claims."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regatta.analysis.estimates import MEASURED, Estimate
from regatta.analysis.results import Analysis, Group
from regatta.ledger.axes import AXES
from regatta.ledger.inputs.claim import OVER_ITERATIVE
from regatta.report.paper.quantities import Quantity

IN_THAT = {("s", "ms"): 1e3, ("ms", "s"): 1e-3}
"""From one unit to another."""
CONNECTIONS = AXES["connections"]


@dataclass(frozen=True)
class Published:
    """One published figure."""

    source: str
    """`report D (Linux under Windows)`."""
    design: str
    connections: int
    side: str
    metric: str
    """As claims call it."""
    per: str
    """As `Quantity` has it."""
    unit: str
    value: float

    def of(self, quantity: Quantity, side: str) -> float | None:
        """The value in the unit of the quantity; None for another quantity or an unknown unit."""
        if (self.metric, self.per, self.side) != (quantity.published, quantity.per, side):
            return None
        if self.unit == quantity.unit:
            return self.value
        factor = IN_THAT.get((self.unit, quantity.unit))
        return None if factor is None else self.value * factor


def published(analysis: Analysis) -> list[Published]:
    """Each figure once; columns of a published table of differences are left out."""
    found = {
        Published(
            source=claim.source,
            design=one.design,
            connections=one.connections,
            side=one.side,
            metric=(one.metric or claim.metric).removesuffix(OVER_ITERATIVE),
            per=one.per,
            unit=one.unit,
            value=one.value,
        ): None
        for claim in analysis.claims
        for one in claim.published
        if not one.column
    }
    return sorted(found, key=lambda one: (one.source, one.connections))


def beside(
    known: Sequence[Published], group: Group, quantity: Quantity, side: str
) -> Iterator[tuple[Published, float]]:
    """The published figures of a group's cells, each in the unit of the quantity."""
    if group.axis != CONNECTIONS:
        return
    raced = {result.cell.contender for result in group.cells}
    for one in known:
        value = one.of(quantity, side)
        if value is not None and one.design in raced and one.connections in group.steps:
            yield one, value


def as_estimate(value: float) -> Estimate:
    """One run, so without an interval."""
    return Estimate(value, None, None, 1, MEASURED)
