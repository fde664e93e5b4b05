"""What a count of errors in independent races says: exact, without large-sample assumptions."""

from collections.abc import Sequence

from scipy import stats  # type: ignore[import-untyped]

from regatta.analysis.statistics.level import LEVEL
from regatta.calibrate.sizes import TOO_OFTEN
from regatta.ledger.given.calibration import Goal

CHANCE = 0.005
"""Probability of missing a met goal: small, since a calibration has a dozen goals."""


def interval(wrong: int, of: int) -> tuple[float, float]:
    """Of the share, at 95 % (Clopper and Pearson 1934)."""
    found = stats.binomtest(wrong, of).proportion_ci(0.95, method="exact")
    return float(found.low), float(found.high)


def allowed(races: int) -> int:
    """The most errors in so many races that a true share of 5 % explains."""
    return int(stats.binom.isf(CHANCE, races, LEVEL))


def goal_of(name: str, wrong: Sequence[bool], detail: str) -> Goal:
    """That a table errs in at most 5 % of races: missed beyond what 5 % explain, met where twice as
    often is excluded. What lies between is not refuted, and mostly for want of races."""
    count, races = sum(wrong), len(wrong)
    goal = f"wrong in at most {100 * LEVEL:g} % of races"
    if not races:
        return Goal(name, goal, "no race", met=None, detail=detail)
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
