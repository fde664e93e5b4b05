"""Verdicts on the claims recorded in a ledger."""

from collections.abc import Mapping, Sequence

from regatta.analysis.claims.comparisons import comparisons
from regatta.analysis.claims.decide import decide, together
from regatta.analysis.claims.evidence import Evidence, RaceResults
from regatta.analysis.claims.result import (
    NOT_MEASURABLE,
    ClaimPart,
    ClaimResult,
    ScopeResult,
    Verdict,
)
from regatta.analysis.claims.single_runs import single_runs
from regatta.analysis.claims.why import Case, why
from regatta.ledger.inputs.claim import Claim
from regatta.ledger.inputs.records import RecordedClaim
from regatta.study.claims.cells import claim_cells, with_study_connections
from regatta.study.limits import SCOPES


def judge_all(recorded: Sequence[RecordedClaim], race: RaceResults) -> list[ClaimResult]:
    """One result a claim, in the order of the study."""
    claims = [with_study_connections(one.claim, race.cells) for one in recorded]
    evidence = [raced(claim, race) for claim in claims]
    found: list[dict[str, ScopeResult]] = [{} for _ in claims]
    for scope in SCOPES:
        there = [number for number, one in enumerate(evidence) if scope in one]
        cases = [(evidence[number][scope], comparisons(claims[number])) for number in there]
        for number, (verdict, parts) in zip(there, decide(cases), strict=True):
            found[number][scope] = _in_scope(
                evidence[number][scope], claims[number], verdict, parts
            )
    return [
        judge(one, claim, scopes, known)
        for one, claim, scopes, known in zip(recorded, claims, found, evidence, strict=True)
    ]


def judge(
    recorded: RecordedClaim,
    raced_at: Claim,
    scopes: Mapping[str, ScopeResult],
    evidence: Mapping[str, Evidence],
) -> ClaimResult:
    """The result of one claim; `raced_at`: the claim with its numbers of connections."""
    claim = recorded.claim
    case = Case(claim, recorded.published, comparisons(raced_at), scopes, evidence)
    first = claim.statements[0]
    return ClaimResult(
        id=claim.id,
        says=claim.says,
        source=recorded.source,
        metric=first.metric,
        side=first.side,
        claimed=" and ".join(statement.signs() for statement in claim.statements),
        connections=sorted(
            {count for statement in raced_at.statements for count in statement.connections}
        ),
        published=recorded.published,
        published_agrees=claim.published_agrees,
        scopes=dict(scopes),
        verdict=verdict(scopes),
        why=why(case),
        where=claim.said_at,
        note=claim.note,
    )


def verdict(scopes: Mapping[str, ScopeResult]) -> Verdict:
    """The verdict over the window, else over the whole process."""
    found = next((scopes[scope] for scope in SCOPES if scope in scopes), None)
    return together([NOT_MEASURABLE]) if found is None else found.verdict


def raced(claim: Claim, race: RaceResults) -> dict[str, Evidence]:
    """By scope, if all cells of the claim were raced, or cannot run on this machine."""
    found: dict[str, Evidence] = {}
    for scope in SCOPES:
        cells = claim_cells(claim, race.cells, scope)
        lacks = [selector for selector in claim.selectors() if selector not in cells]
        if cells and all(selector.design in race.left_out for selector in lacks):
            found[scope] = Evidence(race, scope, cells)
    return found


def _in_scope(
    evidence: Evidence, claim: Claim, found: Verdict, parts: list[ClaimPart]
) -> ScopeResult:
    compared = comparisons(claim)
    terms = dict.fromkeys(term for comparison in compared for term in comparison.terms)
    ordered = sorted(terms, key=lambda term: term.selector.connections)
    return ScopeResult(
        verdict=found,
        parts=parts,
        figures=[evidence.figure(term) for term in ordered],
        single_runs=single_runs(evidence, compared),
    )
