"""A quantity in the unit that is written after its number, or in a column of units."""

from regatta.review.names import METRICS, SCALES, SECONDS, Quantity, heading_of
from regatta.review.reading.to_figure import mistaken

NO_UNIT = frozenset(("", "-", "–", "—", "count", "counts", "events", "number", "#"))


def in_unit(quantity: Quantity | None, unit: str) -> Quantity | None:
    """With the unit of the cell, if it has one; None if the quantity has no such unit."""
    if quantity is None or unit in ("", quantity.unit) or METRICS.get(unit) == quantity:
        return quantity
    letter, slash, _ = unit.lower().partition("/")
    if quantity.unit in SECONDS:
        return Quantity(quantity.name, SECONDS[unit], unit) if unit in SECONDS else None
    if quantity.is_count and slash:
        return mistaken(quantity.name, unit)
    if letter in SCALES and (quantity.is_count or (slash and quantity.is_rate)):
        return Quantity(quantity.name, SCALES[letter], unit)
    return None


def in_column_unit(quantity: Quantity, unit: str) -> Quantity | None:
    """With the unit that the row names; None if a row with that unit is not checked.

    `branches` with the unit `M/sec` is a rate, and is named so.
    """
    unit = unit.strip("()[] ")
    if unit.lower() in NO_UNIT:
        return quantity
    if quantity.is_count:
        named = heading_of(f"{quantity.name} {unit}")
        return named if named or "/" in unit else in_unit(quantity, unit)
    return in_unit(quantity, unit) or in_unit(quantity, unit.lower())
