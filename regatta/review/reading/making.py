"""From a printed number to a figure."""

from regatta.review.figures import Figure
from regatta.review.names import MISTAKEN_RATE, Quantity
from regatta.review.numbers import Number

RATE_DECIMALS = 3
LARGEST_RATE = 1000.0
"""perf prints rates with three decimals, and goes on to the next letter from here."""


def figure_of(quantity: Quantity, number: Number, text: str, line: int) -> Figure:
    """What stands under the name of a count may be a rate, which no check takes for either."""
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
    """Whether what should be a count is written as perf writes rates: 371.078."""
    return (
        quantity.is_count
        and quantity.scale == 1
        and number.decimals == RATE_DECIMALS
        and number.value < LARGEST_RATE
        and number.value % 1 > 0
    )


def mistaken(name: str, unit: str = "") -> Quantity:
    return Quantity(f"{name}{MISTAKEN_RATE}", 1, unit)
