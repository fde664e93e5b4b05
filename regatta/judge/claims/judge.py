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
from regatta.judge.claims.evidence import Evidence, RaceResults
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
from regatta.record.counters import ABSENT, NOT_COUNTED
from regatta.record.inputs import Claim, RecordedClaim
from regatta.record.study.claim_cells import claim_cells
from regatta.record.study.limits import SCOPES

CANNOT = "cannot run here"


def decide(
    cases: Sequence[tuple[Evidence, list[Comparison]]],
) -> list[tuple[Verdict, list[ClaimPart]]]:
    """The verdict and the parts of each claim."""
    tested = [[make_test(evidence, pair) for pair in compared] for evidence, compared in cases]
    parts = iter(jointly([test for claim in tested for test in claim if not isinstance(test, str)]))
    found: list[tuple[Verdict, list[ClaimPart]]] = []
    for (_, compared), claim in zip(cases, tested, strict=True):
        claim_parts = [
            _untested(comparison, test) if isinstance(test, str) else next(parts)
            for comparison, test in zip(compared, claim, strict=True)
        ]
        found.append((together([part.verdict for part in claim_parts]), claim_parts))
    return found


def jointly(tests: Sequence[ComparisonTest]) -> list[ClaimPart]:
    differences = [test.differences() for test in tests]
    units = tests[0].units if tests else BLOCKS
    joint = decide_jointly([row for rows in differences for row in rows], units=units)
    decisions = iter(joint.decisions)
    return [
        test.decided([next(decisions) for _ in rows], joint.score)
        for test, rows in zip(tests, differences, strict=True)
    ]


def together(verdicts: list[Verdict]) -> Verdict:
    """A refuted part refutes the claim, even if others cannot be measured."""
    ranked: tuple[Verdict, ...] = (REFUTED, NOT_MEASURABLE, TOO_FEW, UNDECIDED)
    return next((verdict for verdict in ranked if verdict in verdicts), SUPPORTED)


def _untested(comparison: Comparison, words: str) -> ClaimPart:
    verdict: Verdict = TOO_FEW if words == TOO_FEW_BLOCKS else UNDECIDED
    if words in (*ABSENT, NOT_COUNTED) or CANNOT in words:
        verdict = NOT_MEASURABLE
    return ClaimPart(label=comparison.label, scale="ratio", verdict=verdict, reason=words)


def judge_all(recorded: Sequence[RecordedClaim], race: RaceResults) -> list[ClaimResult]:
    """One result a claim, in the order of the study."""
    claims = [item.claim for item in recorded]
    parts = [comparisons(claim) for claim in claims]
    evidence = [raced(claim, race) for claim in claims]
    found: list[dict[str, ScopeResult]] = [{} for _ in claims]
    for scope in SCOPES:
        there = [number for number, scopes in enumerate(evidence) if scope in scopes]
        decided = decide([(evidence[number][scope], parts[number]) for number in there])
        for number, (verdict, judged) in zip(there, decided, strict=True):
            known, compared = evidence[number][scope], parts[number]
            terms = dict.fromkeys(term for comparison in compared for term in comparison.terms)
            ordered = sorted(terms, key=lambda term: term.selector.connections)
            figures = [known.figure(term) for term in ordered]
            runs = single_runs(known, compared)
            found[number][scope] = ScopeResult(verdict, judged, figures, runs)
    cases = map(Case, recorded, parts, found, evidence)
    return [
        _result(case, sorted({count for said in claim.statements for count in said.connections}))
        for case, claim in zip(cases, claims, strict=True)
    ]


def _result(case: Case, connections: list[int]) -> ClaimResult:
    claim = case.claim
    # Over the window, else over the whole process.
    decisive = next((case.scopes[scope] for scope in SCOPES if scope in case.scopes), None)
    return ClaimResult(
        id=claim.id,
        says=claim.says,
        source=case.recorded.source,
        metric=claim.statements[0].metric,
        side=claim.statements[0].side,
        claimed=" and ".join(statement.signs() for statement in claim.statements),
        connections=connections,
        published=case.recorded.published,
        published_agrees=claim.published_agrees,
        scopes=case.scopes,
        verdict=NOT_MEASURABLE if decisive is None else decisive.verdict,
        why=why(case),
        where=claim.said_at,
        note=claim.note,
    )


def raced(claim: Claim, race: RaceResults) -> dict[str, Evidence]:
    """By scope, if all cells of the claim were raced, or cannot run on this machine."""
    found: dict[str, Evidence] = {}
    for scope in SCOPES:
        cells = claim_cells(claim, race.cells, scope)
        lacks = [selector for selector in claim.selectors() if selector not in cells]
        if cells and all(selector.design in race.left_out for selector in lacks):
            found[scope] = Evidence(race, scope, cells)
    return found
