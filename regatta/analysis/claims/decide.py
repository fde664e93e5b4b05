"""The verdicts on all claims in one scope: each part against what is claimed.

All parts must hold: one that is refuted refutes the claim, and it is supported only if each is.
Holm's correction is over all parts of all claims, because one table shows them: one such table in
twenty, and not one claim in twenty, may hold a verdict that is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regatta.analysis.claims.asked import ABOVE, BELOW, Test, growth, of_two, p_value, stands
from regatta.analysis.claims.comparisons import EQUAL, GROWS, Comparison
from regatta.analysis.claims.evidence import Blocks, Evidence
from regatta.analysis.claims.measures import measure
from regatta.analysis.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    UNDECIDED,
    Part,
    Verdict,
)
from regatta.analysis.holm import holm
from regatta.counters import NOT_COUNTED, NOT_SUPPORTED

LEVEL = 0.05
EQUAL_WITHIN = 0.1
CANNOT = "cannot run here"

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class Asked:
    """A comparison with its test, ready to be decided at any level."""

    comparison: Comparison
    test: Test
    claimed: Bounds

    def p_value(self) -> float:
        """Of the claim's nearest bound; for two bounds, both must be excluded or one passed."""
        bounds = [bound for bound in self.claimed if bound is not None]
        found = [p_value(self.test, bound) for bound in bounds]
        low, high = min(bounds), max(bounds)
        value = self.test.value
        within = value is not None and low <= value <= high
        return max(found) if within else found[bounds.index(nearest(bounds, value))]

    def verdict(self, level: float) -> Verdict:
        low, high = self.claimed
        if self._equal_everywhere(level):
            return SUPPORTED
        above = low is None or stands(self.test, low, level) == ABOVE
        below = high is None or stands(self.test, high, level) == BELOW
        if above and below:
            return SUPPORTED
        under = low is not None and stands(self.test, low, level) == BELOW
        over = high is not None and stands(self.test, high, level) == ABOVE
        return REFUTED if under or over else UNDECIDED

    def _equal_everywhere(self, level: float) -> bool:
        """0 in every block on both sides leaves no room between the bounds, and is equal."""
        return (
            self.comparison.relation == EQUAL
            and self.claimed == (0.0, 0.0)
            and self.test.interval(level) == (0.0, 0.0)
        )


def nearest(bounds: list[float], value: float | None) -> float:
    """The bound that lies nearest to the value; any, if there is none."""
    return min(bounds, key=lambda bound: abs(bound - (value or 0.0)))


def decide(cases: Sequence[tuple[Evidence, list[Comparison]]]) -> list[tuple[Verdict, list[Part]]]:
    """Of each claim the verdict and every part, in the order of the claim."""
    tested = [[ask(evidence, one) for one in asked] for evidence, asked in cases]
    ready = [one for claim in tested for one in claim if isinstance(one, Asked)]
    levels = iter(holm([one.p_value() for one in ready], LEVEL))
    found: list[tuple[Verdict, list[Part]]] = []
    for (_, asked), claim in zip(cases, tested, strict=True):
        parts = [
            _part(one, next(levels).level) if isinstance(one, Asked) else _untested(comparison, one)
            for comparison, one in zip(asked, claim, strict=True)
        ]
        found.append((together([part.verdict for part in parts]), parts))
    return found


def together(verdicts: list[Verdict]) -> Verdict:
    """What is refuted stays so, whatever else cannot be known."""
    ranked: tuple[Verdict, ...] = (REFUTED, NOT_MEASURABLE, UNDECIDED)
    return next((verdict for verdict in ranked if verdict in verdicts), SUPPORTED)


def ask(evidence: Evidence, comparison: Comparison) -> Asked | str:
    """The test of a comparison, or the words that say why there is none."""
    columns: list[Blocks] = []
    for term in comparison.terms:
        values = evidence.values(term)
        if isinstance(values, str):
            return values
        columns.append(values)
    if comparison.relation == GROWS:
        counts = [term.place.connections for term in comparison.terms]
        grown = growth(dict(zip(counts, columns, strict=True)))
        if isinstance(grown, str):
            return grown
        return Asked(comparison, grown, (1 - EQUAL_WITHIN, 1 + EQUAL_WITHIN))
    first, second = columns
    over = measure(comparison.terms[0].metric, evidence.scope).over_iterative
    test = of_two(first, second, over, comparison.at_least != 1)
    if isinstance(test, str):
        return test
    return Asked(comparison, test, claimed(comparison, test, first, second))


def claimed(comparison: Comparison, test: Test, first: Blocks, second: Blocks) -> Bounds:
    """Between which values the claim says that the test's lies."""
    if comparison.relation != EQUAL:
        return (0.0 if test.scale == "difference" else comparison.at_least), None
    if test.scale == "ratio":
        return 1 - EQUAL_WITHIN, 1 + EQUAL_WITHIN
    # Differences have no scale of their own: 10 % of the larger of the two means.
    means = [sum(blocks.values()) / len(blocks) for blocks in (first, second)]
    margin = EQUAL_WITHIN * max(abs(mean) for mean in means)
    return -margin, margin


def _part(one: Asked, level: float) -> Part:
    low, high = one.test.interval(level)
    return Part(
        label=one.comparison.label,
        scale=one.test.scale,
        value=one.test.value,
        low=low,
        high=high,
        level=level,
        blocks=one.test.blocks,
        verdict=one.verdict(level),
        detectable=one.test.detectable(level),
        claimed_low=one.claimed[0],
        claimed_high=one.claimed[1],
    )


def _untested(comparison: Comparison, words: str) -> Part:
    absent = words in (NOT_SUPPORTED, NOT_COUNTED) or CANNOT in words
    return Part(
        label=comparison.label,
        scale="ratio",
        value=None,
        low=None,
        high=None,
        level=LEVEL,
        blocks=0,
        verdict=NOT_MEASURABLE if absent else UNDECIDED,
        detectable=None,
        reason=words,
    )
