"""In how many single runs of everything a claim would have held: what one run is worth.

A report that measures each server once sees one block. If a claim holds in 11 of 20 blocks, two
such reports contradict each other as often as not.
"""

from regatta.analysis.claims.comparisons import (
    EQUAL,
    FACTOR,
    GAP,
    POWER,
    Comparison,
)
from regatta.analysis.claims.evidence import Blocks, Evidence
from regatta.analysis.claims.gaps import gaps_of
from regatta.analysis.claims.make_test import by_connections, claimed, growths, subtracted
from regatta.analysis.claims.powers import powers
from regatta.ledger.given.claim import ABOVE, BELOW


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
        # Of the first, as in a ratio; from nothing only nothing is not far.
        share = (comparison.within.share or 0.0) * (abs(first) or abs(second))
        return abs(second - first) <= max(share, amount)
    if comparison.at_least != 1:
        return second >= comparison.at_least * first
    return second > first
