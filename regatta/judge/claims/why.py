"""Why a claim holds here, or does not: one line derived from counters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from regatta.judge.claims.comparisons import (
    EQUAL,
    FIGURE,
    REQUEST,
    Comparison,
    Term,
)
from regatta.judge.claims.evidence import NOT_RACED, Evidence
from regatta.judge.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimPart,
    ScopeResult,
)
from regatta.judge.claims.words import NEEDS, finding, words_of
from regatta.judge.estimates import CLIENT_BOUND, DISTURBED, OVER, digits
from regatta.record.cell import PROCESS, WINDOW
from regatta.record.inputs import OVER_ITERATIVE, CellSelector, Claim, PublishedFigure
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


def mean(evidence: Evidence | None, term: Term) -> float | None:
    """Mean over blocks; None if it was not measured."""
    if evidence is None:
        return None
    values = evidence.values(term)
    if isinstance(values, str) or not values:
        return None
    return sum(values.values()) / len(values)


def per_request_ms(
    evidence: Mapping[str, Evidence], design: str, connections: int, metric: str = "task_clock"
) -> float | None:
    """Cost per request over the window; CPU time in ms, others as counted."""
    value = mean(evidence.get(WINDOW), _server(evidence, design, connections, metric))
    return value if value is None or metric not in CPU_METRICS else value / 1000


def fixed_cost(
    evidence: Mapping[str, Evidence], design: str, connections: int, metric: str = "task_clock"
) -> float | None:
    """What a whole process used beyond its requests: start, idling, exit. In ms, or a count."""
    if metric not in EVENT_METRICS:
        return None
    whole = mean(evidence.get(PROCESS), _server(evidence, design, connections, metric))
    each = per_request_ms(evidence, design, connections, metric)
    if whole is None or each is None:
        return None
    return max(whole - each * connections, 0.0)


def more_of(evidence: Evidence, dearer: CellSelector, cheaper: CellSelector) -> str:
    """`1.03 more context switches and 4.1 more page faults`; empty if there are none."""
    found = []
    for metric, words in CAUSES.items():
        these, those = (
            mean(evidence, Term(selector, "server", metric)) for selector in (dearer, cheaper)
        )
        if these is not None and those is not None and these - those >= WORTH_SAYING:
            found.append(f"{these - those:.3g} more {words}")
    return ", ".join(found[:-1]) + (" and " if found[:-1] else "") + found[-1] if found else ""


def _server(evidence: Mapping[str, Evidence], design: str, connections: int, metric: str) -> Term:
    """Uses the claim's own selector for the cell, which may name the client's engine."""
    selectors = [selector for known in evidence.values() for selector in known.cells]
    wanted = (design, connections)
    named = [
        selector for selector in selectors if (selector.design, selector.connections) == wanted
    ]
    return Term(named[0] if named else CellSelector(design, connections), "server", metric)


# Why a claim holds here, or does not: one line derived from counters. A rule returns a phrase, or
# None if it does not apply. The line has the phrase of the first rule that applies to the finding,
# then that of the first rule that explains a contradiction.

NOBODY_SERVED = 0.5
"""Of one request's cost with other designs: a process that used less has served no request."""
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


@dataclass(frozen=True)
class Case:
    claim: Claim
    published: Sequence[PublishedFigure]
    comparisons: Sequence[Comparison]
    scopes: Mapping[str, ScopeResult]
    evidence: Mapping[str, Evidence]

    @property
    def scope(self) -> str:
        """The scope that decides the verdict."""
        return WINDOW if WINDOW in self.scopes else PROCESS

    def parts(self, verdict: str) -> list[tuple[Comparison, ClaimPart]]:
        pairs = zip(self.comparisons, self.scopes[self.scope].parts, strict=True)
        return [(comparison, part) for comparison, part in pairs if part.verdict == verdict]


Rule = Callable[[Case], str | None]


def why(case: Case) -> str:
    if not case.scopes:
        return "none of its cells could be raced here"
    found = _first(case, (not_measurable, refuted, too_few, undecided, supported))
    origin = _first(case, (nobody_served, scopes_differ, chance, own_figures))
    return "; ".join(words for words in (found, origin, with_study_connections(case)) if words)


def _first(case: Case, rules: Sequence[Rule]) -> str | None:
    return next((words for rule in rules if (words := rule(case)) is not None), None)


def not_measurable(case: Case) -> str | None:
    if case.scopes[case.scope].verdict != NOT_MEASURABLE:
        return None
    comparison, part = case.parts(NOT_MEASURABLE)[0]
    if "cannot run" in part.reason:
        return part.reason
    metric = comparison.terms[0].metric
    return f"this machine does not count {NEEDS.get(metric, words_of(metric))} ({part.reason})"


def refuted(case: Case) -> str | None:
    """From the part that is furthest from the claim."""
    found = case.parts(REFUTED)
    furthest = max(found, key=lambda pair: abs(_beyond(pair[1])), default=None)
    return furthest and explained(case, *furthest)


def supported(case: Case) -> str | None:
    """From the part that held by the smallest margin."""
    found = case.parts(SUPPORTED)
    strict = [pair for pair in found if pair[0].relation != EQUAL] or found
    nearest = min(strict, key=lambda pair: abs(_beyond(pair[1])), default=None)
    return nearest and explained(case, *nearest)


def explained(case: Case, comparison: Comparison, part: ClaimPart) -> str:
    return finding(comparison, part, unit_of(case, comparison)) + because(case, comparison, part)


def too_few(case: Case) -> str | None:
    found = case.parts(TOO_FEW)
    if not found:
        return None
    part = min((part for _, part in found), key=lambda part: part.blocks)
    units = case.evidence[case.scope].race.units
    return f"{part.label}: {part.blocks} {units.name} in common, and a verdict needs {units.fewest}"


def undecided(case: Case) -> str | None:
    """From the part with the least power."""
    found = case.parts(UNDECIDED)
    if not found:
        return None
    comparison, part = max(found, key=lambda pair: abs((pair[1].detectable or 1) - 1))
    if part.value is None or part.reason:
        return f"{part.label}: {REASONS.get(part.reason, part.reason) or NO_NUMBER}"
    units = case.evidence[case.scope].race.units
    text = f"{finding(comparison, part, unit_of(case, comparison))}, in {part.blocks} {units.name}"
    if comparison.relation == EQUAL:
        margin = comparison.within.words()
        return f"{text}: shown neither to be within {margin} nor beyond it"
    if part.detectable is None or (part.scale == "ratio" and part.detectable > TOO_WIDE):
        return f"{text}: the interval is too wide to tell"
    if part.scale == "ratio" and comparison.at_least == 1:
        return f"{text}: detectable at 80 % power is {(part.detectable - 1) * 100:.3g} %"
    unit = unit_of(case, comparison) if part.scale == "difference" else ""
    return f"{text}: detectable at 80 % power is {digits(part.detectable)}{unit}"


def unit_of(case: Case, comparison: Comparison) -> str:
    """Of a difference, with a space before it: ` µs a request`."""
    how = case.evidence[case.scope].how(comparison.terms[0])
    words = (how.metric.unit, "a request" if how.per == REQUEST else "")
    return "".join(f" {word}" for word in words if word)


def nobody_served(case: Case) -> str | None:
    """A process that used less CPU than one request of the others has served none."""
    for figure in _cpu_totals(case):
        others = [
            other.value
            for other in _cpu_totals(case)
            if other.connections == figure.connections and other.design != figure.design
        ]
        if not others or figure.value >= NOBODY_SERVED * median(others) / figure.connections:
            continue
        each = median(others) / figure.connections
        text = (
            f"{figure.design}'s published {digits(figure.value)} {figure.unit} include no request: "
            f"the others took {digits(each)} {figure.unit} for each"
        )
        start = fixed_cost(case.evidence, figure.design, figure.connections)
        return text if start is None else f"{text}; start and exit take {digits(start)} ms here"
    return None


def _cpu_totals(case: Case) -> list[PublishedFigure]:
    return [
        figure
        for figure in case.published
        if figure.metric in CPU_METRICS and figure.per == "process" and figure.side == "server"
    ]


def scopes_differ(case: Case) -> str | None:
    """The verdict over the whole process, if it differs."""
    if not {WINDOW, PROCESS} <= case.scopes.keys():
        return None
    whole = case.scopes[PROCESS].verdict
    if whole in (case.scopes[WINDOW].verdict, NOT_MEASURABLE):
        return None
    return f"over the whole process it is {whole}{_share(case)}{_runs(case.scopes[PROCESS])}"


def _share(case: Case) -> str:
    """The share of a whole process that is start and exit."""
    shares = []
    for term in dict.fromkeys(term for comparison in case.comparisons for term in comparison.terms):
        if term.side == "server" and not term.metric.endswith(OVER_ITERATIVE):
            selector = term.selector
            fixed = fixed_cost(case.evidence, selector.design, selector.connections, term.metric)
            each = per_request_ms(case.evidence, selector.design, selector.connections, term.metric)
            if fixed is not None and each is not None and fixed > 0:
                shares.append(fixed / (fixed + max(each, 0.0) * selector.connections))
    if not shares:
        return ""
    least, most = (round(end(shares) * 100) for end in (min, max))
    span = f"{least}" if least == most else f"{least} to {most}"
    return f", where {span} % is start and exit"


def chance(case: Case) -> str | None:
    """A single run of each design, as reports make, is a coin toss here."""
    result = case.scopes.get(PROCESS, case.scopes[case.scope])
    if result.single_runs is None:
        return None
    held, blocks = result.single_runs
    if not COIN_TOSS[0] < held / blocks < COIN_TOSS[1]:
        return None
    of_what = " of a whole process" if PROCESS in case.scopes else ""
    return f"it holds in {held} of {blocks} single runs{of_what}"


def _runs(result: ScopeResult) -> str:
    if result.single_runs is None:
        return ""
    return " and it holds in {} of {} single runs".format(*result.single_runs)


def with_study_connections(case: Case) -> str:
    """Which loads were used where the source names none."""
    if all(said.connections for said in case.claim.statements):
        return ""
    counts = sorted({term.selector.connections for one in case.comparisons for term in one.terms})
    *most, last = map("{:,}".format, counts)
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"the claim names no number of connections: tested at the study's {listed}"


def own_figures(case: Case) -> str | None:
    return None if case.claim.published_agrees else "the source's own figures contradict it"


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
    more = more_of(case.evidence[WINDOW], dearer.selector, cheaper.selector)
    return f": {dearer.selector.design} makes {more} a request" if more else ""


def _counts(case: Case, first: Term, second: Term) -> str:
    """A ratio of two numbers near 0 says little, so both are given."""
    if first.metric not in EVENT_METRICS:
        return ""
    pair = [mean(case.evidence[case.scope], term) for term in (second, first)]
    if pair[0] is None or pair[1] is None:
        return ""
    per = "a request" if case.evidence[case.scope].how(first).per == REQUEST else "in all"
    return f": {digits(pair[0])} against {digits(pair[1])} {per}"


def _beyond(part: ClaimPart) -> float:
    """Distance from the claim, comparable between parts of one scale."""
    ends = [end for end in (part.claimed_low, part.claimed_high) if end is not None]
    if part.value is None or not ends:
        return 0.0
    return min((part.value - end for end in ends), key=abs)
