"""Verdicts on the claims recorded in a ledger, each scope one family.

Each part is tested against what is claimed. One refuted part refutes a claim; it is supported only
if every part is. All parts of all claims in a scope are one family (statistics/joint.py), because
one table shows them: the error rate of 5 % is that of the table, not of a claim. Supported and
refuted are the two sides of a null value. Equality has two null values and is supported only
between them: the absence of a significant difference is not equality.
"""

from collections.abc import Sequence

from regatta.judge.claims.claim_tests import ComparisonTest
from regatta.judge.claims.comparisons import Comparison, comparisons
from regatta.judge.claims.evidence import Evidence, NoFigureError, RaceResults
from regatta.judge.claims.make_test import make_test, single_runs
from regatta.judge.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimPart,
    ClaimResult,
    ScopeResult,
    Verdict,
)
from regatta.judge.claims.why import Case, why
from regatta.judge.statistics.joint import decide_jointly
from regatta.judge.statistics.percentile_comparison import TOO_FEW_BLOCKS
from regatta.judge.statistics.units import BLOCKS
from regatta.record.cell import WINDOW
from regatta.record.counters import ABSENT, NOT_COUNTED
from regatta.record.inputs import BECAUSE, Claim, RecordedClaim
from regatta.record.study.claim_cells import claim_cells
from regatta.record.study.limits import SCOPES

CANNOT = "cannot run here"


def decide(
    cases: Sequence[tuple[Evidence, Sequence[Comparison]]],
) -> list[tuple[Verdict, list[ClaimPart]]]:
    """The verdict and the parts of each claim."""
    tested = [[_test(evidence, pair) for pair in compared] for evidence, compared in cases]
    tests = [test for claim in tested for test in claim if isinstance(test, ComparisonTest)]
    differences = [test.differences() for test in tests]
    units = tests[0].units if tests else BLOCKS
    joint = decide_jointly([row for rows in differences for row in rows], units)
    decisions, rows_of = iter(joint.decisions), iter(differences)
    found: list[tuple[Verdict, list[ClaimPart]]] = []
    for claim in tested:
        parts = [
            test.decided([next(decisions) for _ in next(rows_of)], joint.score)
            if isinstance(test, ComparisonTest)
            else test
            for test in claim
        ]
        found.append((together([part.verdict for part in parts]), parts))
    return found


def together(verdicts: list[Verdict]) -> Verdict:
    """A refuted part refutes the claim, even if others cannot be measured."""
    ranked: tuple[Verdict, ...] = (REFUTED, NOT_MEASURABLE, TOO_FEW, UNDECIDED)
    return next((verdict for verdict in ranked if verdict in verdicts), SUPPORTED)


def _test(evidence: Evidence, comparison: Comparison) -> ComparisonTest | ClaimPart:
    """Or the part as it is without a test."""
    try:
        return make_test(evidence, comparison)
    except NoFigureError as error:
        words = str(error)
    verdict: Verdict = TOO_FEW if words == TOO_FEW_BLOCKS else UNDECIDED
    if words in (*ABSENT, NOT_COUNTED) or CANNOT in words:
        verdict = NOT_MEASURABLE
    return ClaimPart(label=comparison.label, scale="ratio", verdict=verdict, reason=words)


def judge_all(recorded: Sequence[RecordedClaim], race: RaceResults) -> list[ClaimResult]:
    """One result a claim, in the order of the study."""
    cases = [Case(of, comparisons(of.claim), {}, raced(of.claim, race)) for of in recorded]
    for scope in SCOPES:
        there = [case for case in cases if scope in case.evidence]
        decided = decide([(case.evidence[scope], case.comparisons) for case in there])
        for case, (verdict, parts) in zip(there, decided, strict=True):
            evidence = case.evidence[scope]
            ordered = sorted(case.terms, key=lambda term: term.selector.connections)
            figures = [evidence.figure(term) for term in ordered]
            runs = single_runs(evidence, case.comparisons)
            case.scopes[scope] = ScopeResult(verdict, parts, figures, runs)
    return [_result(case) for case in cases]


def _result(case: Case) -> ClaimResult:
    claim = case.claim
    return ClaimResult(
        id=claim.id,
        says=claim.says,
        source=case.recorded.source,
        metric=claim.statements[0].metric,
        side=claim.statements[0].side,
        claimed=" and ".join(statement.signs() for statement in claim.statements),
        connections=sorted({count for said in claim.statements for count in said.connections}),
        published=case.recorded.published,
        published_agrees=claim.published_agrees,
        scopes=case.scopes,
        verdict=case.scopes[case.scope].verdict if case.scopes else NOT_MEASURABLE,
        why=why(case),
        where=claim.said_at,
        note=claim.note,
    )


def raced(claim: Claim, race: RaceResults) -> dict[str, Evidence]:
    """By scope, if all cells of the claim were raced, or cannot run on this machine."""
    found: dict[str, Evidence] = {}
    sampled = any(statement.kind == BECAUSE for statement in claim.statements)
    for scope in (WINDOW,) if sampled else SCOPES:
        cells = claim_cells(claim, race.cells, scope)
        lacks = [selector for selector in claim.selectors() if selector not in cells]
        if cells and all(selector.design in race.left_out for selector in lacks):
            found[scope] = Evidence(race, scope, cells)
    return found
