"""Holm's step-down correction: a family-wise error rate of 5 % over a table."""

from dataclasses import dataclass

from regatta.analysis.statistics.level import LEVEL


@dataclass(frozen=True)
class Decision:
    level: float
    """The level at which this comparison was decided; its interval is drawn at 1 - level."""
    adjusted_p: float
    rejected: bool


def holm(p_values: list[float], alpha: float = LEVEL) -> list[Decision]:
    """One decision for each p-value, in the order given."""
    count = len(p_values)
    order = sorted(range(count), key=lambda index: p_values[index])
    decisions: list[Decision | None] = [None] * count
    stopped_at: float | None = None
    adjusted = 0.0
    for step, index in enumerate(order):
        remaining = count - step
        adjusted = min(1.0, max(adjusted, p_values[index] * remaining))
        # Nothing is rejected after the first that is not. Their intervals keep that step's level,
        # at which they contain "no difference" too, so interval and verdict always agree.
        level = alpha / remaining if stopped_at is None else stopped_at
        if stopped_at is None and p_values[index] > level:
            stopped_at = level
        decisions[index] = Decision(level, adjusted, stopped_at is None)
    return [decision for decision in decisions if decision is not None]
