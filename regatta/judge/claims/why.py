"""Why a claim holds here, or does not: one line derived from counters.

It has the finding of the part that decides the verdict, then the first phrase that explains a
contradiction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regatta.judge.claims.comparisons import EQUAL, FIGURE, REQUEST, Comparison, Term
from regatta.judge.claims.evidence import NOT_RACED, Evidence
from regatta.judge.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    TOO_FEW,
    UNDECIDED,
    ClaimPart,
    ScopeResult,
    Verdict,
)
from regatta.judge.claims.words import finding, words_of
from regatta.judge.estimates import CLIENT_BOUND, DISTURBED, OVER, digits
from regatta.record.cell import PROCESS, WINDOW
from regatta.record.inputs import OVER_ITERATIVE, Claim, RecordedClaim
from regatta.record.metrics import NO_TRIAL
from regatta.record.study.statement import EVENT_METRICS

CPU_METRICS = ("task_clock", "cpu_clock", "user_time", "system_time")
CAUSES = {
    "context_switches": "context switches",
    "page_faults": "page faults",
    "syscalls": "system calls",
}
WORTH_SAYING = 0.2
"""Smallest difference of a count per request that is mentioned."""
NO_NUMBER = "its denominator may be 0"
REASONS = {
    NO_TRIAL: "it has no usable trial",
    NOT_RACED: "it was not raced",
    CLIENT_BOUND: "the client was the bottleneck",
    DISTURBED: "other programs took CPU from the client",
    OVER: "requests that were due did not start, so their latency is unknown",
}
"""Why there is no number, in a sentence."""
TOO_WIDE = 10.0
"""A smallest detectable ratio beyond this says nothing."""
COIN_TOSS = (0.1, 0.9)
"""Between these shares of supporting runs, the outcome of one run is chance."""

Compared = tuple[Comparison, ClaimPart]


@dataclass(frozen=True)
class Case:
    recorded: RecordedClaim
    comparisons: Sequence[Comparison]
    scopes: dict[str, ScopeResult]
    evidence: Mapping[str, Evidence]

    @property
    def claim(self) -> Claim:
        return self.recorded.claim

    @property
    def scope(self) -> str:
        """The scope that decides the verdict."""
        return WINDOW if WINDOW in self.scopes else PROCESS

    @property
    def terms(self) -> list[Term]:
        return list(dict.fromkeys(term for pair in self.comparisons for term in pair.terms))

    @property
    def here(self) -> Evidence:
        return self.evidence[self.scope]

    def unit(self, comparison: Comparison) -> str:
        """Of a difference, with a space before it: ` µs a request`."""
        how = self.here.how(comparison.terms[0])
        words = (how.metric.unit, "a request" if how.per == REQUEST else "")
        return "".join(f" {word}" for word in words if word)


def why(case: Case) -> str:
    if not case.scopes:
        return "none of its cells could be raced here"
    verdict = case.scopes[case.scope].verdict
    pairs = zip(case.comparisons, case.scopes[case.scope].parts, strict=True)
    decisive = [pair for pair in pairs if pair[1].verdict == verdict]
    found = _finding(case, verdict, decisive) if decisive else ""
    origin = scopes_differ(case) or chance(case)
    if not origin and not case.claim.published_agrees:
        origin = "the source's own figures contradict it"
    return "; ".join(filter(None, (found, origin)))


def _finding(case: Case, verdict: Verdict, found: list[Compared]) -> str:
    """On the part that decides, of those with this verdict."""
    if verdict == NOT_MEASURABLE:
        comparison, part = found[0]
        if "cannot run" in part.reason:
            return part.reason
        metric = words_of(comparison.terms[0].metric)
        return f"this machine does not count {metric} ({part.reason})"
    units = case.here.race.units
    if verdict == TOO_FEW:
        part = min((part for _, part in found), key=lambda part: part.blocks)
        needed = f"a verdict needs {units.fewest}"
        return f"{part.label}: {part.blocks} {units.name} in common, and {needed}"
    if verdict == UNDECIDED:
        # The part with the least power.
        return undecided(case, *max(found, key=lambda pair: abs((pair[1].detectable or 1) - 1)))
    # The part that is furthest from the claim, or held by the smallest margin.
    strict = [pair for pair in found if pair[0].relation != EQUAL] or found
    comparison, part = max(found, key=_beyond) if verdict == REFUTED else min(strict, key=_beyond)
    if part.value is None:
        return f"{part.label}: {part.reason}"
    said = finding(comparison, part, case.unit(comparison))
    return said + because(case, comparison, part)


def undecided(case: Case, comparison: Comparison, part: ClaimPart) -> str:
    if part.value is None or part.reason:
        return f"{part.label}: {REASONS.get(part.reason, part.reason) or NO_NUMBER}"
    unit = case.unit(comparison)
    text = f"{finding(comparison, part, unit)}, in {part.blocks} {case.here.race.units.name}"
    if comparison.relation == EQUAL:
        margin = comparison.within.words()
        return f"{text}: shown neither to be within {margin} nor beyond it"
    if part.detectable is None or (part.scale == "ratio" and part.detectable > TOO_WIDE):
        return f"{text}: the interval is too wide to tell"
    least = f"{digits(part.detectable)}{unit if part.scale == 'difference' else ''}"
    if part.scale == "ratio" and comparison.at_least == 1:
        least = f"{(part.detectable - 1) * 100:.3g} %"
    return f"{text}: detectable at 80 % power is {least}"


def scopes_differ(case: Case) -> str:
    """The verdict over the whole process, if it differs."""
    if not {WINDOW, PROCESS} <= case.scopes.keys():
        return ""
    whole = case.scopes[PROCESS]
    if whole.verdict in (case.scopes[WINDOW].verdict, NOT_MEASURABLE):
        return ""
    runs = whole.single_runs
    held = " and it holds in {} of {} single runs".format(*runs) if runs else ""
    return f"over the whole process it is {whole.verdict}{_share(case)}{held}"


def _share(case: Case) -> str:
    """The share of a whole process that is start, idling and exit."""
    shares = []
    for term in case.terms:
        if term.side != "server" or term.metric not in EVENT_METRICS:
            continue
        asked = Term(term.selector, "server", term.metric)
        whole, each = (case.evidence[scope].mean(asked) for scope in (PROCESS, WINDOW))
        if whole is None or each is None:
            continue
        # A process is measured in ms, a request in µs.
        requests = each / (1000 if term.metric in CPU_METRICS else 1) * term.selector.connections
        if whole > requests:
            shares.append((whole - requests) / (whole - requests + max(requests, 0.0)))
    if not shares:
        return ""
    least, most = (round(end(shares) * 100) for end in (min, max))
    span = f"{least}" if least == most else f"{least} to {most}"
    return f", where {span} % is start and exit"


def chance(case: Case) -> str:
    """A single run of each design, as reports make, is a coin toss here."""
    runs = case.scopes.get(PROCESS, case.scopes[case.scope]).single_runs
    if runs is None or not COIN_TOSS[0] < runs[0] / runs[1] < COIN_TOSS[1]:
        return ""
    of_what = " of a whole process" if PROCESS in case.scopes else ""
    return f"it holds in {runs[0]} of {runs[1]} single runs{of_what}"


def because(case: Case, comparison: Comparison, part: ClaimPart) -> str:
    """What the more expensive of two designs does more of per request; for counts both counts."""
    if comparison.quantity != FIGURE or len(comparison.terms) != 2 or part.value is None:
        return ""
    first, second = comparison.terms
    if first.metric.removesuffix(OVER_ITERATIVE) not in CPU_METRICS:
        return _counts(case, first, second)
    if first.selector.design == second.selector.design or WINDOW not in case.evidence:
        return ""
    no_difference = 0.0 if part.scale == "difference" else 1.0
    dearer, cheaper = (second, first) if part.value > no_difference else (first, second)
    found = []
    for metric, words in CAUSES.items():
        these, those = (
            case.evidence[WINDOW].mean(Term(term.selector, "server", metric))
            for term in (dearer, cheaper)
        )
        if these is not None and those is not None and these - those >= WORTH_SAYING:
            found.append(f"{these - those:.3g} more {words}")
    more = " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))
    return f": {dearer.selector.design} makes {more} a request" if more else ""


def _counts(case: Case, first: Term, second: Term) -> str:
    """A ratio of two numbers near 0 says little, so both are given."""
    these, those = (case.here.mean(term) for term in (second, first))
    if first.metric not in EVENT_METRICS or these is None or those is None:
        return ""
    per = "a request" if case.here.how(first).per == REQUEST else "in all"
    return f": {digits(these)} against {digits(those)} {per}"


def _beyond(pair: Compared) -> float:
    """Distance from the claim, comparable between parts of one scale."""
    _, part = pair
    ends = [end for end in (part.claimed_low, part.claimed_high) if end is not None]
    if part.value is None or not ends:
        return 0.0
    return min(abs(part.value - end) for end in ends)
