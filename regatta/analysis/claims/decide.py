"""The verdicts on all claims in one scope: each part against what is claimed.

One refuted part refutes a claim; it is supported only if every part is. All parts of all claims are
one family (statistics/joint.py), because one table shows them: one such table in twenty, not one
claim in twenty, may hold a wrong verdict. Supported and refuted are the two sides of a bound.
Equality has two bounds, and is supported only between them: not seeing a difference is not
equality.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from regatta.analysis.claims.asked import Test, Times, growth, of_two
from regatta.analysis.claims.comparisons import EQUAL, GROWS, Comparison
from regatta.analysis.claims.evidence import Blocks, Evidence
from regatta.analysis.claims.measures import measure
from regatta.analysis.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    Part,
    Verdict,
)
from regatta.analysis.contrast import TOO_FEW_BLOCKS
from regatta.analysis.statistics.joint import ABOVE, BELOW, Joint, Side, agreeing, decide_jointly
from regatta.analysis.statistics.slower import Requests, slower
from regatta.analysis.statistics.units import BLOCKS, Units
from regatta.ledger.counters import NOT_COUNTED, NOT_SUPPORTED

CANNOT = "cannot run here"
NEAR_NOTHING = "a share of what may be nothing says nothing"

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class Asked:
    """A comparison with its test, ready to be decided with all others."""

    comparison: Comparison
    test: Test
    claimed: Bounds
    units: Units

    @property
    def bounds(self) -> list[float]:
        return [bound for bound in self.claimed if bound is not None]

    def differences(self) -> list[Blocks]:
        """What the family tests: one for each bound, and whether a share is one of anything."""
        found = [self.test.against(bound) for bound in self.bounds]
        return [*found, self.test.first] if self._of_a_share(self.test) else found

    def _of_a_share(self, test: Test) -> TypeGuard[Times]:
        """Whether it is asked to be within a share of what may be nothing."""
        return isinstance(test, Times) and len(self.bounds) > 1

    def decided(self, sides: Sequence[Side], score: float) -> Part:
        """As the family says."""
        enough = self.test.blocks >= self.units.fewest
        by_bound = dict(zip(self.bounds, sides, strict=False))
        ends: Bounds = self.test.interval(score) if enough else (None, None)
        for bound, found in by_bound.items() if enough else ():
            ends = agreeing(ends, bound, found.side)
        verdict, reason = self._verdict(by_bound, sides[-1]) if enough else (TOO_FEW, "")
        return Part(
            label=self.comparison.label,
            scale=self.test.scale,
            value=self.test.value,
            low=ends[0],
            high=ends[1],
            p_value=self._p_value(by_bound) if enough else None,
            blocks=self.test.blocks,
            verdict=verdict,
            detectable=self.test.detectable(score) if enough else None,
            claimed_low=self.claimed[0],
            claimed_high=self.claimed[1],
            reason=reason,
        )

    def _verdict(self, sides: Mapping[float, Side], last: Side) -> tuple[Verdict, str]:
        low, high = (None if bound is None else sides[bound].side for bound in self.claimed)
        if low in (ABOVE, None) and high in (BELOW, None):
            return SUPPORTED, ""
        if self._of_a_share(self.test) and last.side != ABOVE:
            return UNDECIDED, NEAR_NOTHING
        return (REFUTED if low == BELOW or high == ABOVE else UNDECIDED), ""

    def _p_value(self, sides: Mapping[float, Side]) -> float:
        """For two bounds, both must be excluded or one passed."""
        low, high = min(sides), max(sides)
        value = self.test.value
        if value is not None and low <= value <= high:
            return max(side.p_value for side in sides.values())
        return sides[nearest(self.bounds, value)].p_value


def nearest(bounds: list[float], value: float | None) -> float:
    """The bound that lies nearest to the value; any, if there is none."""
    return min(bounds, key=lambda bound: abs(bound - (value or 0.0)))


def decide(cases: Sequence[tuple[Evidence, list[Comparison]]]) -> list[tuple[Verdict, list[Part]]]:
    """Of each claim the verdict and every part, in the order of the claim."""
    tested = [[ask(evidence, one) for one in asked] for evidence, asked in cases]
    ready = [one for claim in tested for one in claim if isinstance(one, Asked)]
    parts = iter(jointly(ready))
    found: list[tuple[Verdict, list[Part]]] = []
    for (_, asked), claim in zip(cases, tested, strict=True):
        own = [
            next(parts) if isinstance(one, Asked) else _untested(comparison, one)
            for comparison, one in zip(asked, claim, strict=True)
        ]
        found.append((together([part.verdict for part in own]), own))
    return found


def jointly(asked: Sequence[Asked]) -> list[Part]:
    differences = [one.differences() for one in asked]
    units = asked[0].units if asked else BLOCKS
    joint: Joint = decide_jointly([row for own in differences for row in own], units=units)
    sides = iter(joint.sides)
    return [
        one.decided([next(sides) for _ in own], joint.score)
        for one, own in zip(asked, differences, strict=True)
    ]


def together(verdicts: list[Verdict]) -> Verdict:
    """What is refuted stays so, whatever else cannot be known."""
    ranked: tuple[Verdict, ...] = (REFUTED, NOT_MEASURABLE, TOO_FEW, UNDECIDED)
    return next((verdict for verdict in ranked if verdict in verdicts), SUPPORTED)


def ask(evidence: Evidence, comparison: Comparison) -> Asked | str:
    """The test of a comparison, or the words that say why there is none."""
    if comparison.relation != GROWS and evidence.fraction(comparison.terms[0]) is not None:
        return _ask_of_percentiles(evidence, comparison)
    units = evidence.race.units
    columns: list[Blocks] = []
    for term in comparison.terms:
        values = evidence.values(term)
        if isinstance(values, str):
            return values
        columns.append(values)
    if comparison.relation == GROWS:
        counts = [term.place.connections for term in comparison.terms]
        grown = growth(dict(zip(counts, columns, strict=True)), units)
        if isinstance(grown, str):
            return grown
        return Asked(comparison, grown, around(comparison), units)
    first, second = columns
    over = measure(comparison.terms[0].metric, evidence.scope).over_iterative
    means = [abs(sum(of.values()) / len(of)) for of in columns if of]
    amount = _amount(evidence, comparison, max(means, default=0.0))
    test = of_two(
        first,
        second,
        differences=over or amount is not None,
        times=amount is None and (comparison.relation == EQUAL or comparison.at_least != 1),
        units=units,
    )
    if isinstance(test, str):
        return test
    return Asked(comparison, test, claimed(comparison, test, amount), units)


def _ask_of_percentiles(evidence: Evidence, comparison: Comparison) -> Asked | str:
    fraction, units = evidence.fraction(comparison.terms[0]), evidence.race.units
    cells: list[Requests] = []
    for term in comparison.terms:
        found = evidence.requests(term)
        if isinstance(found, str):
            return found
        cells.append(found)
    assert fraction is not None
    test = slower(cells[0], cells[1], fraction, units)
    if isinstance(test, str):
        return test
    amount = _amount(evidence, comparison, test.larger_ms)
    test = test if amount is None else replace(test, scale="difference")
    return Asked(comparison, test, claimed(comparison, test, amount), units)


def _amount(evidence: Evidence, comparison: Comparison, larger: float) -> float | None:
    """The margin of what is equal, if it is the wider of the two on the larger of the figures."""
    share = comparison.within.share
    amount = evidence.amount(comparison.terms[0], comparison.within)
    wider = amount is not None and (share is None or amount >= share * larger)
    return amount if comparison.relation == EQUAL and wider else None


def claimed(comparison: Comparison, test: Test, amount: float | None) -> Bounds:
    """Between which values the claim says that the test's lies."""
    if comparison.relation != EQUAL:
        return (0.0 if test.scale == "difference" else comparison.at_least), None
    return around(comparison) if amount is None else (-amount, amount)


def around(comparison: Comparison) -> tuple[float, float]:
    """The bounds of a ratio, or of a power."""
    share = comparison.within.share
    assert share is not None
    return 1 - share, 1 + share


def _untested(comparison: Comparison, words: str) -> Part:
    absent = words in (NOT_SUPPORTED, NOT_COUNTED) or CANNOT in words
    verdict: Verdict = TOO_FEW if words == TOO_FEW_BLOCKS else UNDECIDED
    return Part(
        label=comparison.label,
        scale="ratio",
        value=None,
        low=None,
        high=None,
        p_value=None,
        blocks=0,
        verdict=NOT_MEASURABLE if absent else verdict,
        detectable=None,
        reason=words,
    )
