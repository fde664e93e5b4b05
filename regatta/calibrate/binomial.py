"""Exact binomial statistics for a count of errors in independent races."""

from collections.abc import Sequence

from scipy import stats  # type: ignore[import-untyped]

from regatta.analysis.statistics.level import LEVEL
from regatta.ledger.inputs.calibration import Goal

TOO_OFTEN = 0.1
"""The goal of 5 % errors is met if this true share is excluded."""
CHANCE = 0.005
"""Probability that a sound instrument misses a goal: small, as there are a dozen goals."""


def interval(wrong: int, of: int) -> tuple[float, float]:
    """The 95 % interval of the share (Clopper and Pearson 1934)."""
    found = stats.binomtest(wrong, of).proportion_ci(0.95, method="exact")
    return float(found.low), float(found.high)


def allowed(races: int) -> int:
    """The most errors in this many races that a true share of 5 % explains."""
    return int(stats.binom.isf(CHANCE, races, LEVEL))


def goal_of(name: str, wrong: Sequence[bool], detail: str) -> Goal:
    """The goal that a table errs in at most 5 % of races.

    It is missed if 5 % cannot explain the errors, and met if twice that share is excluded. In
    between it is not refuted, mostly because there are too few races.
    """
    count, races = sum(wrong), len(wrong)
    goal = f"wrong in at most {100 * LEVEL:g} % of races"
    if not races:
        return Goal(name, goal, "no races", met=None, detail=detail)
    most = allowed(races)
    low, high = (100 * end for end in interval(count, races))
    beyond = count > most
    return Goal(
        name,
        f"{goal}: missed beyond {most} of {races}, met if surely below {100 * TOO_OFTEN:g} %",
        f"{count} of {races} ({low:.1f} to {high:.1f} %)",
        met=False if beyond else True if high < 100 * TOO_OFTEN else None,
        detail=detail,
        value=100 * count / races,
    )
