"""A figure with its interval, as tables, verdicts and charts have it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A figure and the ends of its interval, at 95 % if nothing else is said."""

    value: float
    low: float
    high: float

    def through(self, rising: Callable[[float], float]) -> "Interval":
        """Of another quantity, which rises with this one."""
        return Interval(*map(rising, (self.value, self.low, self.high)))

    @property
    def inverse(self) -> "Interval":
        """Of the reciprocal of a positive figure."""
        return Interval(1 / self.value, 1 / self.high, 1 / self.low)


@dataclass(frozen=True)
class OpenInterval:
    """The same of a figure that may be unknown; its ends may be unknown or unbounded: None."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    def through(self, rising: Callable[[float], float]) -> "OpenInterval":
        ends = (self.value, self.low, self.high)
        return OpenInterval(*(None if end is None else rising(end) for end in ends))

    @property
    def closed(self) -> Interval | None:
        """None if the figure or an end is."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return Interval(self.value, self.low, self.high)
