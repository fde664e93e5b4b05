"""The verdicts on all claims in one scope: each part against what is claimed.

One refuted part refutes a claim; it is supported only if every part is. All parts of all claims are
one family (statistics/joint.py), because one table shows them: one such table in twenty, not one
claim in twenty, may hold a wrong verdict. Supported and refuted are the two sides of a null value.
Equality has two of them, and is supported only between them: not seeing a difference is not
equality.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from regatta.analysis.claims.claim_tests import FiellerRatio, Test, compare_two, growth
from regatta.analysis.claims.comparisons import EQUAL, GROWS, Comparison
from regatta.analysis.claims.evidence import Blocks, Evidence, all_or_words
from regatta.analysis.claims.measures import measure
from regatta.analysis.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimPart,
    Verdict,
)
from regatta.analysis.statistics.joint import (
    ABOVE,
    BELOW,
    Joint,
    SignDecision,
    agreeing,
    decide_jointly,
)
from regatta.analysis.statistics.slower import TOO_FEW_BLOCKS, slower
from regatta.analysis.statistics.units import BLOCKS, Units
from regatta.ledger.counters import NOT_COUNTED, NOT_SUPPORTED

CANNOT = "cannot run here"
NEAR_NOTHING = "a share of what may be nothing says nothing"

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class ComparisonTest:
    """A comparison with its test, ready to be decided with all others."""

    comparison: Comparison
    test: Test
    claimed: Bounds
    units: Units

    @property
    def null_values(self) -> list[float]:
        return [null_value for null_value in self.claimed if null_value is not None]

    def differences(self) -> list[Blocks]:
        """What the family tests: one a null value, and whether a share is one of anything."""
        found = [self.test.against(null_value) for null_value in self.null_values]
        return [*found, self.test.first] if self._is_share_of_nothing(self.test) else found

    def _is_share_of_nothing(self, test: Test) -> TypeGuard[FiellerRatio]:
        """Whether it is asked to be within a share of what may be nothing."""
        return isinstance(test, FiellerRatio) and len(self.null_values) > 1

    def decided(self, decisions: Sequence[SignDecision], score: float) -> ClaimPart:
        """As the family says."""
        enough = self.test.blocks >= self.units.fewest
        by_null_value = dict(zip(self.null_values, decisions, strict=False))
        ends: Bounds = self.test.interval(score) if enough else (None, None)
        for null_value, found in by_null_value.items() if enough else ():
            ends = agreeing(ends, null_value, found.sign)
        verdict, reason = self._verdict(by_null_value, decisions[-1]) if enough else (TOO_FEW, "")
        return ClaimPart(
            label=self.comparison.label,
            scale=self.test.scale,
            value=self.test.value,
            low=ends[0],
            high=ends[1],
            p_value=self._p_value(by_null_value) if enough else None,
            blocks=self.test.blocks,
            verdict=verdict,
            detectable=self.test.detectable(score) if enough else None,
            claimed_low=self.claimed[0],
            claimed_high=self.claimed[1],
            reason=reason,
        )

    def _verdict(
        self, decisions: Mapping[float, SignDecision], last: SignDecision
    ) -> tuple[Verdict, str]:
        low, high = (
            None if null_value is None else decisions[null_value].sign
            for null_value in self.claimed
        )
        if low in (ABOVE, None) and high in (BELOW, None):
            return SUPPORTED, ""
        if self._is_share_of_nothing(self.test) and last.sign != ABOVE:
            return UNDECIDED, NEAR_NOTHING
        return (REFUTED if low == BELOW or high == ABOVE else UNDECIDED), ""

    def _p_value(self, decisions: Mapping[float, SignDecision]) -> float:
        """Of two null values both must be excluded or one passed."""
        low, high = min(decisions), max(decisions)
        value = self.test.value
        if value is not None and low <= value <= high:
            return max(decision.p_value for decision in decisions.values())
        return decisions[nearest(self.null_values, value)].p_value


def nearest(null_values: list[float], value: float | None) -> float:
    """The null value that lies nearest to the value; any, if there is none."""
    return min(null_values, key=lambda null_value: abs(null_value - (value or 0.0)))


def decide(
    cases: Sequence[tuple[Evidence, list[Comparison]]],
) -> list[tuple[Verdict, list[ClaimPart]]]:
    """Of each claim the verdict and every part, in the order of the claim."""
    tested = [[make_test(evidence, one) for one in compared] for evidence, compared in cases]
    ready = [one for claim in tested for one in claim if isinstance(one, ComparisonTest)]
    parts = iter(jointly(ready))
    found: list[tuple[Verdict, list[ClaimPart]]] = []
    for (_, compared), claim in zip(cases, tested, strict=True):
        claim_parts = [
            next(parts) if isinstance(one, ComparisonTest) else _untested(comparison, one)
            for comparison, one in zip(compared, claim, strict=True)
        ]
        found.append((together([part.verdict for part in claim_parts]), claim_parts))
    return found


def jointly(tests: Sequence[ComparisonTest]) -> list[ClaimPart]:
    differences = [one.differences() for one in tests]
    units = tests[0].units if tests else BLOCKS
    joint: Joint = decide_jointly([row for rows in differences for row in rows], units=units)
    decisions = iter(joint.decisions)
    return [
        one.decided([next(decisions) for _ in rows], joint.score)
        for one, rows in zip(tests, differences, strict=True)
    ]


def together(verdicts: list[Verdict]) -> Verdict:
    """What is refuted stays so, whatever else cannot be known."""
    ranked: tuple[Verdict, ...] = (REFUTED, NOT_MEASURABLE, TOO_FEW, UNDECIDED)
    return next((verdict for verdict in ranked if verdict in verdicts), SUPPORTED)


def make_test(evidence: Evidence, comparison: Comparison) -> ComparisonTest | str:
    """The test of a comparison, or the words that say why there is none."""
    if comparison.relation != GROWS and evidence.fraction(comparison.terms[0]) is not None:
        return _make_percentile_test(evidence, comparison)
    units = evidence.race.units
    columns = evidence.columns(comparison)
    if isinstance(columns, str):
        return columns
    if comparison.relation == GROWS:
        counts = [term.selector.connections for term in comparison.terms]
        grown = growth(dict(zip(counts, columns, strict=True)), units)
        if isinstance(grown, str):
            return grown
        return ComparisonTest(comparison, grown, around(comparison), units)
    first, second = columns
    over = measure(comparison.terms[0].metric, evidence.scope).over_iterative
    means = [abs(sum(of.values()) / len(of)) for of in columns if of]
    amount = _amount(evidence, comparison, max(means, default=0.0))
    test = compare_two(
        first,
        second,
        differences=over or amount is not None,
        times=amount is None and (comparison.relation == EQUAL or comparison.at_least != 1),
        units=units,
    )
    if isinstance(test, str):
        return test
    return ComparisonTest(comparison, test, claimed(comparison, test, amount), units)


def _make_percentile_test(evidence: Evidence, comparison: Comparison) -> ComparisonTest | str:
    fraction, units = evidence.fraction(comparison.terms[0]), evidence.race.units
    cells = all_or_words(map(evidence.requests, comparison.terms))
    if isinstance(cells, str):
        return cells
    assert fraction is not None
    test = slower(cells[0], cells[1], fraction, units)
    if isinstance(test, str):
        return test
    amount = _amount(evidence, comparison, test.larger_ms)
    test = test if amount is None else replace(test, scale="difference")
    return ComparisonTest(comparison, test, claimed(comparison, test, amount), units)


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
    """The null values of a ratio, or of a power."""
    share = comparison.within.share
    assert share is not None
    return 1 - share, 1 + share


def _untested(comparison: Comparison, words: str) -> ClaimPart:
    absent = words in (NOT_SUPPORTED, NOT_COUNTED) or CANNOT in words
    verdict: Verdict = TOO_FEW if words == TOO_FEW_BLOCKS else UNDECIDED
    return ClaimPart(
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
