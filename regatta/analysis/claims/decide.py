"""The verdicts on all claims in one scope: each part against what is claimed.

One refuted part refutes a claim; it is supported only if every part is. All parts of all claims are
one family (statistics/joint.py), because one table shows them: the error rate of 5 % is that of the
table, not of a claim. Supported and refuted are the two sides of a null value. Equality has two
null values and is supported only between them: the absence of a significant difference is not
equality.
"""

from collections.abc import Sequence

from regatta.analysis.claims.comparison_test import ComparisonTest
from regatta.analysis.claims.comparisons import Comparison
from regatta.analysis.claims.evidence import Evidence
from regatta.analysis.claims.gaps import GapTest
from regatta.analysis.claims.make_test import make_test
from regatta.analysis.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimPart,
    Verdict,
)
from regatta.analysis.statistics.joint import Joint, decide_jointly
from regatta.analysis.statistics.percentile_comparison import TOO_FEW_BLOCKS
from regatta.analysis.statistics.units import BLOCKS
from regatta.ledger.counters import ABSENT, NOT_COUNTED

CANNOT = "cannot run here"


def decide(
    cases: Sequence[tuple[Evidence, list[Comparison]]],
) -> list[tuple[Verdict, list[ClaimPart]]]:
    """The verdict and the parts of each claim."""
    tested = [[make_test(evidence, one) for one in compared] for evidence, compared in cases]
    ready = [one for claim in tested for one in claim if not isinstance(one, str)]
    parts = iter(jointly(ready))
    found: list[tuple[Verdict, list[ClaimPart]]] = []
    for (_, compared), claim in zip(cases, tested, strict=True):
        claim_parts = [
            _untested(comparison, one) if isinstance(one, str) else next(parts)
            for comparison, one in zip(compared, claim, strict=True)
        ]
        found.append((together([part.verdict for part in claim_parts]), claim_parts))
    return found


def jointly(tests: Sequence[ComparisonTest | GapTest]) -> list[ClaimPart]:
    differences = [one.differences() for one in tests]
    units = tests[0].units if tests else BLOCKS
    joint: Joint = decide_jointly([row for rows in differences for row in rows], units=units)
    decisions = iter(joint.decisions)
    return [
        one.decided([next(decisions) for _ in rows], joint.score)
        for one, rows in zip(tests, differences, strict=True)
    ]


def together(verdicts: list[Verdict]) -> Verdict:
    """A refuted part refutes the claim, even if others cannot be measured."""
    ranked: tuple[Verdict, ...] = (REFUTED, NOT_MEASURABLE, TOO_FEW, UNDECIDED)
    return next((verdict for verdict in ranked if verdict in verdicts), SUPPORTED)


def _untested(comparison: Comparison, words: str) -> ClaimPart:
    absent = words in (*ABSENT, NOT_COUNTED) or CANNOT in words
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
