"""In how many blocks a claim holds: what a single run of each server would have shown.

A report that measures each server once sees one block. If a claim holds in 11 of 20 blocks, two
such reports contradict each other about half the time.
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
from regatta.analysis.claims.growth_exponents import powers
from regatta.analysis.claims.make_test import by_connections, claimed, growths, subtracted
from regatta.ledger.inputs.claim import ABOVE, BELOW


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
