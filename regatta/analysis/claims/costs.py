"""Where a cost comes from, by the counters: requests, or start and exit."""

from collections.abc import Mapping

from regatta.analysis.claims.comparisons import Term
from regatta.analysis.claims.evidence import Evidence
from regatta.ledger.cell import PROCESS, WINDOW
from regatta.ledger.inputs.claim import CellSelector
from regatta.study.claims.metrics import EVENT_METRICS

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
