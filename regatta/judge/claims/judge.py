"""Verdicts on the claims recorded in a ledger, each scope one family."""

from collections.abc import Mapping, Sequence

from regatta.judge.claims.claim_tests import ComparisonTest
from regatta.judge.claims.comparisons import (
    EQUAL,
    FACTOR,
    GAP,
    POWER,
    Comparison,
    comparisons,
)
from regatta.judge.claims.evidence import Blocks, Evidence, RaceResults
from regatta.judge.claims.gaps import GapTest, gaps_of
from regatta.judge.claims.make_test import (
    by_connections,
    claimed,
    growths,
    make_test,
    powers,
    subtracted,
)
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
from regatta.judge.statistics.joint import Joint, decide_jointly
from regatta.judge.statistics.percentile_comparison import TOO_FEW_BLOCKS
from regatta.judge.statistics.units import BLOCKS
from regatta.record.counters import ABSENT, NOT_COUNTED
from regatta.record.inputs import ABOVE, BELOW, Claim, RecordedClaim
from regatta.record.study.claim_cells import claim_cells, with_study_connections
from regatta.record.study.limits import SCOPES

# The verdicts on all claims in one scope: each part against what is claimed. One refuted part
# refutes a claim; it is supported only if every part is. All parts of all claims are one family
# (statistics/joint.py), because one table shows them: the error rate of 5 % is that of the table,
# not of a claim. Supported and refuted are the two sides of a null value. Equality has two null
# values and is supported only between them: the absence of a significant difference is not
# equality.

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


# In how many blocks a claim holds: what a single run of each server would have shown. A report that
# measures each server once sees one block. If a claim holds in 11 of 20 blocks, two such reports
# contradict each other about half the time.


def single_runs(evidence: Evidence, comparisons: list[Comparison]) -> tuple[int, int] | None:
    """Blocks in which every part holds, and blocks with every part; None if there are none."""
    found: list[dict[int, bool]] = []
    for comparison in comparisons:
        columns = evidence.columns(comparison)
        if isinstance(columns, str):
            return None
        found.append(_held(evidence, comparison, columns))
    blocks = set.intersection(*(set(held) for held in found)) if found else set()
    if not blocks:
        return None
    return sum(all(held[block] for held in found) for block in blocks), len(blocks)


def _held(evidence: Evidence, comparison: Comparison, columns: list[Blocks]) -> dict[int, bool]:
    if comparison.quantity == GAP:
        gaps = gaps_of(columns, differences=subtracted(evidence, comparison))
        return {} if isinstance(gaps, str) else {at: by > 0 for at, by in gaps.in_units().items()}
    if comparison.quantity == POWER:
        found = powers(by_connections(comparison, columns)[0])
        return {} if isinstance(found, str) else _within(evidence, comparison, found)
    if comparison.relation in (BELOW, ABOVE):
        return _within(evidence, comparison, columns[0])
    if comparison.quantity == FACTOR:
        columns, _ = growths(evidence, comparison, columns)
    first, second = columns
    amount = evidence.amount(comparison.terms[0], comparison.within) or 0.0
    return {
        block: _holds(comparison, first[block], second[block], amount)
        for block in first.keys() & second.keys()
    }


def _within(evidence: Evidence, comparison: Comparison, values: Blocks) -> dict[int, bool]:
    low, high = claimed(evidence, comparison, "")
    return {
        block: (low is None or low <= value) and (high is None or value <= high)
        for block, value in values.items()
    }


def _holds(comparison: Comparison, first: float, second: float, amount: float) -> bool:
    if comparison.relation == EQUAL:
        # Relative to the first, as in a ratio, unless it is 0.
        share = (comparison.within.share or 0.0) * (abs(first) or abs(second))
        return abs(second - first) <= max(share, amount)
    if comparison.at_least != 1:
        return second >= comparison.at_least * first
    return second > first


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
