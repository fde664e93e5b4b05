"""Builds the test of each comparison from the evidence of a race."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from regatta.judge.claims.claim_tests import ComparisonTest, Test, compare_two, hold_one
from regatta.judge.claims.comparisons import (
    EQUAL,
    FACTOR,
    FIGURE,
    GAP,
    POWER,
    Comparison,
)
from regatta.judge.claims.evidence import Blocks, Evidence, all_or_words, common_blocks
from regatta.judge.claims.gaps import GapTest, gaps_of
from regatta.judge.statistics.joint import Ends
from regatta.judge.statistics.percentile_comparison import compare_percentiles, one_percentile
from regatta.record.inputs import ABOVE, BELOW

# How a metric grows with the number of connections: a line through the logarithms, block by block.
# Its slope is the growth exponent: 1 is proportional. Figures that may be 0 or negative have no
# logarithm; for them the line goes through the figures themselves.

NO_EXPONENT = "a figure that may be 0 has no growth exponent"
Columns = Mapping[int, Blocks]
"""By number of connections, one number a block."""


def positive(columns: Columns) -> bool:
    """Whether all values are, in the blocks that all columns have."""
    common = common_blocks(columns.values())
    return all(column[block] > 0 for column in columns.values() for block in common)


def powers(columns: Columns) -> Blocks | str:
    """One exponent a block that all columns have, or why there are none.

    Leaving out only the blocks with a 0 would bias the growth of the rest.
    """
    return slopes(columns, logs=True) if positive(columns) else NO_EXPONENT


def factors(columns: Columns, *, logs: bool) -> Blocks:
    """Growth from the fewest to the most connections: a factor, or a difference."""
    least, most = min(columns), max(columns)
    if not logs:
        return {block: by * (most - least) for block, by in slopes(columns, logs=False).items()}
    reach = math.log(most / least)
    return {block: math.exp(by * reach) for block, by in slopes(columns, logs=True).items()}


def slopes(columns: Columns, *, logs: bool) -> Blocks:
    x = np.array(list(columns), dtype=np.float64)
    x = np.log(x) if logs else x
    x -= x.mean()
    found: Blocks = {}
    for block in common_blocks(columns.values()):
        y = np.array([column[block] for column in columns.values()], dtype=np.float64)
        found[block] = float(x @ (np.log(y) if logs else y) / (x @ x))
    return found


def make_test(evidence: Evidence, comparison: Comparison) -> ComparisonTest | GapTest | str:
    """The test of a comparison, or why there is none."""
    fraction = evidence.fraction(comparison.terms[0])
    if comparison.quantity == FIGURE and fraction is not None:
        return _percentiles(evidence, comparison, fraction)
    columns = evidence.columns(comparison)
    if isinstance(columns, str):
        return columns
    make = {FIGURE: _figures, POWER: _power, FACTOR: _factors, GAP: _gaps}[comparison.quantity]
    return make(evidence, comparison, columns)


def _figures(
    evidence: Evidence, comparison: Comparison, columns: list[Blocks]
) -> ComparisonTest | str:
    units = evidence.race.units
    if comparison.relation in (BELOW, ABOVE):
        test: Test | str = hold_one(columns[0], "figure", units)
        return _ready(evidence, comparison, test)
    means = [abs(sum(of.values()) / len(of)) for of in columns if of]
    amount = _amount(evidence, comparison, max(means, default=0.0))
    first, second = columns
    test = compare_two(
        first,
        second,
        differences=subtracted(evidence, comparison) or amount is not None,
        times=amount is None and _asks_how_many_times(comparison),
        units=units,
    )
    return _ready(evidence, comparison, test, amount)


def _power(
    evidence: Evidence, comparison: Comparison, columns: list[Blocks]
) -> ComparisonTest | str:
    found = powers(by_connections(comparison, columns)[0])
    test = found if isinstance(found, str) else hold_one(found, "exponent", evidence.race.units)
    return _ready(evidence, comparison, test)


def _factors(
    evidence: Evidence, comparison: Comparison, columns: list[Blocks]
) -> ComparisonTest | str:
    (first, second), logs = growths(evidence, comparison, columns)
    times = _asks_how_many_times(comparison)
    units = evidence.race.units
    test = compare_two(first, second, differences=not logs, times=times, units=units)
    return _ready(evidence, comparison, test)


def growths(
    evidence: Evidence, comparison: Comparison, columns: Sequence[Blocks]
) -> tuple[list[Blocks], bool]:
    """The growth of each of the two, and whether it is a factor (or a difference)."""
    both = by_connections(comparison, columns)
    logs = not subtracted(evidence, comparison) and all(map(positive, both))
    return [factors(one, logs=logs) for one in both], logs


def _gaps(evidence: Evidence, comparison: Comparison, columns: list[Blocks]) -> GapTest | str:
    units = evidence.race.units
    found = gaps_of(columns, differences=subtracted(evidence, comparison), units=units)
    return found if isinstance(found, str) else GapTest(comparison, found, units)


def _percentiles(
    evidence: Evidence, comparison: Comparison, fraction: float
) -> ComparisonTest | str:
    cells = all_or_words(map(evidence.requests, comparison.terms))
    if isinstance(cells, str):
        return cells
    units = evidence.race.units
    if comparison.relation in (BELOW, ABOVE):
        return _ready(evidence, comparison, one_percentile(cells[0], fraction, units))
    test = compare_percentiles(cells[0], cells[1], fraction, units)
    if isinstance(test, str):
        return test
    amount = _amount(evidence, comparison, test.larger_ms)
    test = test if amount is None else replace(test, scale="difference")
    return _ready(evidence, comparison, test, amount)


def _ready(
    evidence: Evidence, comparison: Comparison, test: Test | str, amount: float | None = None
) -> ComparisonTest | str:
    if isinstance(test, str):
        return test
    bounds = claimed(evidence, comparison, test.scale, amount)
    return ComparisonTest(comparison, test, bounds, evidence.race.units)


def by_connections(comparison: Comparison, columns: Sequence[Blocks]) -> list[Columns]:
    """Values by number of connections, for the one or two that are compared."""
    known = dict(zip(comparison.terms, columns, strict=True))
    parts = [comparison.terms] if comparison.quantity == POWER else comparison.halves
    return [{term.selector.connections: known[term] for term in part} for part in parts]


def subtracted(evidence: Evidence, comparison: Comparison) -> bool:
    """Whether its figures are differences to the iterative server, and may be 0."""
    return evidence.how(comparison.terms[0]).over_iterative


def _asks_how_many_times(comparison: Comparison) -> bool:
    return comparison.relation == EQUAL or comparison.at_least != 1


def _amount(evidence: Evidence, comparison: Comparison, larger: float) -> float | None:
    """The absolute margin of equality, if it is wider than the relative one at `larger`."""
    share = comparison.within.share
    amount = evidence.amount(comparison.terms[0], comparison.within)
    wider = amount is not None and (share is None or amount >= share * larger)
    return amount if comparison.relation == EQUAL and wider else None


def claimed(
    evidence: Evidence, comparison: Comparison, scale: str, amount: float | None = None
) -> Ends:
    """The claimed range of the test's value; `amount`: absolute margin of equality."""
    if comparison.relation == EQUAL:
        return around(comparison) if amount is None else (-amount, amount)
    if comparison.relation in (BELOW, ABOVE):
        bound = 1.0
        if comparison.quantity == FIGURE:
            bound = evidence.amount(comparison.terms[0], comparison.within) or 0.0
        return (None, bound) if comparison.relation == BELOW else (bound, None)
    return (0.0 if scale == "difference" else comparison.at_least), None


def around(comparison: Comparison) -> tuple[float, float]:
    """The null values of a ratio or an exponent."""
    share = comparison.within.share
    assert share is not None
    return 1 - share, 1 + share
