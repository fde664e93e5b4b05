"""The quantities that a study may vary in steps; each can be the axis of a table and a chart."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Axis:
    """One quantity of a cell, and the words for it."""

    name: str
    """Name of the cell's field."""
    one: str
    many: str
    quantity: str
    """What varies: `number of connections`."""
    quantities: str
    preposition: str

    def count(self, value: int) -> str:
        """`1 connection`, `1,000 idle connections`."""
        return f"{value:,} {self.one if value == 1 else self.many}"

    def at(self, value: int) -> str:
        """Beginning of a sentence about this value: `At 10 connections`."""
        return f"{self.preposition} {self.count(value)}"

    def over_all(self) -> str:
        return f"Over all {self.quantities}"


def _numbers(name: str, one: str, preposition: str) -> Axis:
    many = f"{one}s"
    return Axis(name, one, many, f"number of {many}", f"numbers of {many}", preposition)


AXES = {
    axis.name: axis
    for axis in (
        _numbers("connections", "connection", "At"),
        Axis("rate", "request/s", "requests/s", "offered rate", "offered rates", "At"),
        _numbers("idle", "idle connection", "With"),
        _numbers("slow", "slow connection", "With"),
        _numbers("workers", "worker", "With"),
    )
}


def choose_axis(cells: Iterable[Any], get: Callable[[Any, str], int | None] = getattr) -> Axis:
    """The quantity that these cells vary; if several, the one with the most steps.

    If nothing varies, the number of connections.
    """
    members = list(cells)
    steps = {
        name: len({value for cell in members if (value := get(cell, name)) is not None})
        for name in AXES
    }
    return AXES[max(AXES, key=lambda name: steps[name])]
