"""In how many single runs of everything a claim would have held: what one run is worth.

A report that measures each server once sees one block. If a claim holds in 11 of 20 blocks, two
such reports contradict each other as often as not.
"""

from regatta.analysis.claims.claim_tests import exponents
from regatta.analysis.claims.comparisons import EQUAL, GROWS, Comparison
from regatta.analysis.claims.decide import around
from regatta.analysis.claims.evidence import Blocks, Evidence


def single_runs(evidence: Evidence, comparisons: list[Comparison]) -> tuple[int, int] | None:
    """Blocks in which every part holds, and all that have every part; None if none has."""
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
    if comparison.relation == GROWS:
        counts = [term.selector.connections for term in comparison.terms]
        grown = exponents(dict(zip(counts, columns, strict=True)))
        low, high = around(comparison)
        return {block: low <= power <= high for block, power in grown.items()}
    first, second = columns
    amount = evidence.amount(comparison.terms[0], comparison.within) or 0.0
    return {
        block: _holds(comparison, first[block], second[block], amount)
        for block in first.keys() & second.keys()
    }


def _holds(comparison: Comparison, first: float, second: float, amount: float) -> bool:
    if comparison.relation == EQUAL:
        # Of the first, as in a ratio; from nothing only nothing is not far.
        share = (comparison.within.share or 0.0) * (abs(first) or abs(second))
        return abs(second - first) <= max(share, amount)
    if comparison.at_least != 1:
        return second >= comparison.at_least * first
    return second > first
