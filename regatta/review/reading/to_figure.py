"""From a printed number to a figure."""

from regatta.review.figures import Figure
from regatta.review.names import MISTAKEN_RATE, Quantity
from regatta.review.numbers import Number

RATE_DECIMALS = 3
LARGEST_RATE = 1000.0
"""perf prints rates with three decimals, and changes to the next prefix (K, M, G) from here."""


def figure_of(quantity: Quantity, number: Number, text: str, line: int) -> Figure:
    """A rate under the name of a count gets a name of its own, so no check confuses the two."""
    if is_rate(quantity, number):
        quantity = mistaken(quantity.name)
    exact = quantity.is_count and quantity.scale == 1 and number.half == 0.5
    return Figure(
        quantity.name,
        number.value * quantity.scale,
        0.0 if exact else number.half * quantity.scale,
        text.strip(),
        quantity.unit,
        line,
    )


def is_rate(quantity: Quantity, number: Number) -> bool:
    """Whether a supposed count is written like one of perf's rates: 371.078."""
    return (
        quantity.is_count
        and quantity.scale == 1
        and number.decimals == RATE_DECIMALS
        and number.value < LARGEST_RATE
        and number.value % 1 > 0
    )


def mistaken(name: str, unit: str = "") -> Quantity:
    return Quantity(f"{name}{MISTAKEN_RATE}", 1, unit)
