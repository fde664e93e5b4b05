"""A comparison with its test and the claimed range, decided within the family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from regatta.analysis.claims.claim_tests import FiellerRatio, Test
from regatta.analysis.claims.comparisons import Comparison
from regatta.analysis.claims.evidence import Blocks
from regatta.analysis.claims.result import (
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimPart,
    Verdict,
)
from regatta.analysis.statistics.joint import ABOVE, BELOW, Ends, SignDecision, agreeing
from regatta.analysis.statistics.units import Units

NEAR_ZERO = "its reference may be 0, so a relative margin is undefined"


@dataclass(frozen=True)
class ComparisonTest:
    """Ready to be decided together with all others."""

    comparison: Comparison
    test: Test
    claimed: Ends
    units: Units

    @property
    def null_values(self) -> list[float]:
        return [null_value for null_value in self.claimed if null_value is not None]

    def differences(self) -> list[Blocks]:
        """One row for each null value, and one for whether the reference exceeds 0."""
        found = [self.test.against(null_value) for null_value in self.null_values]
        return [*found, self.test.first] if self._may_have_no_reference(self.test) else found

    def _may_have_no_reference(self, test: Test) -> TypeGuard[FiellerRatio]:
        """Whether equality is claimed within a share of a figure that may be 0."""
        return isinstance(test, FiellerRatio) and len(self.null_values) > 1

    def decided(self, decisions: Sequence[SignDecision], score: float) -> ClaimPart:
        enough = self.test.blocks >= self.units.fewest
        by_null_value = dict(zip(self.null_values, decisions, strict=False))
        ends: Ends = self.test.interval(score) if enough else (None, None)
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
        if self._may_have_no_reference(self.test) and last.sign != ABOVE:
            return UNDECIDED, NEAR_ZERO
        return (REFUTED if low == BELOW or high == ABOVE else UNDECIDED), ""

    def _p_value(self, decisions: Mapping[float, SignDecision]) -> float:
        """With two null values, both must be excluded, or the nearer one crossed."""
        low, high = min(decisions), max(decisions)
        value = self.test.value
        if value is not None and low <= value <= high:
            return max(decision.p_value for decision in decisions.values())
        return decisions[nearest(self.null_values, value)].p_value


def nearest(null_values: list[float], value: float | None) -> float:
    """The null value nearest to `value`; any if there is no value."""
    return min(null_values, key=lambda null_value: abs(null_value - (value or 0.0)))
