"""Builds the test of each comparison from the evidence of a race; and in which single blocks it
holds.

How a metric grows with the number of connections: a line through the logarithms, block by block.
Its slope is the growth exponent: 1 is proportional. Figures that may be 0 or negative have no
logarithm; for them the line goes through the figures themselves.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from regatta.judge.anatomy import spent_on
from regatta.judge.claims.claim_tests import (
    ComparisonTest,
    FiellerRatio,
    Level,
    Test,
    compare_two,
    gaps_of,
)
from regatta.judge.claims.comparisons import (
    EQUAL,
    FACTOR,
    FIGURE,
    GAP,
    POWER,
    SHARE,
    Comparison,
)
from regatta.judge.claims.evidence import (
    Blocks,
    Evidence,
    NoFigureError,
    common_blocks,
    known,
)
from regatta.judge.statistics.joint import Ends
from regatta.judge.statistics.percentile_comparison import (
    FEWEST_BLOCKS,
    TOO_FEW_BLOCKS,
    compare_percentiles,
    one_percentile,
)
from regatta.record.inputs import ABOVE, BELOW
from regatta.record.recordings import last_name

NO_EXPONENT = "a figure that may be 0 has no growth exponent"
Columns = Mapping[int, Blocks]
"""By number of connections, one number a block."""


def slopes(columns: Columns, *, logs: bool) -> Blocks:
    """By how much the metric grows in each block that all columns have, per connection; or by which
    power of the connections.
    """
    x = np.array(list(columns), dtype=np.float64)
    x = np.log(x) if logs else x
    x -= x.mean()
    found: Blocks = {}
    for block in common_blocks(columns.values()):
        y = np.array([column[block] for column in columns.values()], dtype=np.float64)
        found[block] = float(x @ (np.log(y) if logs else y) / (x @ x))
    return found


def compared(evidence: Evidence, comparison: Comparison) -> tuple[list[Blocks], bool]:
    """What is compared, one number a block each, and whether it must be subtracted. A gap has its
    figures."""
    if comparison.quantity == SHARE:
        # What the second needs more than the first: in all, and for these activities.
        columns = []
        for of in ((), comparison.activities):
            less, more = (spent_on(evidence.stacks(term), of) for term in comparison.terms)
            if not any((*less.values(), *more.values())):
                raise NoFigureError(f"no sample is of {' or '.join(map(last_name, of))}")
            columns.append({at: more[at] - less[at] for at in common_blocks((less, more))})
        return columns, True
    columns = [evidence.values(term) for term in comparison.terms]
    # Differences to the iterative server may be 0.
    subtracted = evidence.how(comparison.terms[0]).over_iterative
    if comparison.quantity not in (POWER, FACTOR):
        return columns, subtracted
    by_term = dict(zip(comparison.terms, columns, strict=True))
    halves = [comparison.terms] if comparison.quantity == POWER else comparison.halves
    series = [{term.selector.connections: by_term[term] for term in half} for half in halves]
    positive = all(
        column[block] > 0
        for growth in series
        for block in common_blocks(growth.values())
        for column in growth.values()
    )
    if comparison.quantity == POWER:
        if not positive:
            # Leaving out only the blocks with a 0 would bias the growth of the rest.
            raise NoFigureError(NO_EXPONENT)
        return [slopes(series[0], logs=True)], False
    logs = positive and not subtracted
    # From the fewest to the most connections: a factor, or a difference.
    least, most = min(series[0]), max(series[0])
    reach = math.log(most / least) if logs else most - least
    grown = [
        {block: math.exp(by * reach) if logs else by * reach for block, by in found.items()}
        for found in (slopes(growth, logs=logs) for growth in series)
    ]
    return grown, not logs


def make_test(evidence: Evidence, comparison: Comparison) -> ComparisonTest:
    fraction = evidence.fraction(comparison.terms[0])
    if comparison.quantity == FIGURE and fraction is not None:
        test, amount = _percentiles(evidence, comparison, fraction)
    else:
        test, amount = _figures(evidence, comparison)
    bounds = claimed(evidence, comparison, test.scale, amount)
    return ComparisonTest(comparison, test, bounds, evidence.race.units)


Made = tuple[Test, float | None]
"""A test, and the absolute margin of equality that it is for."""


def _figures(evidence: Evidence, comparison: Comparison) -> Made:
    columns, differences = compared(evidence, comparison)
    units = evidence.race.units
    if comparison.quantity == GAP:
        return gaps_of(columns, differences=differences, units=units), None
    if comparison.quantity == SHARE:
        whole, part = map(units.gathered, columns)
        if len(whole) < FEWEST_BLOCKS:
            raise NoFigureError(TOO_FEW_BLOCKS)
        return FiellerRatio(whole, part, "figure"), None
    if len(columns) == 1:
        values = units.gathered(columns[0])
        if len(values) < FEWEST_BLOCKS:
            raise NoFigureError(TOO_FEW_BLOCKS)
        return Level(values, "exponent" if comparison.quantity == POWER else "figure"), None
    means = [abs(sum(of.values()) / len(of)) for of in columns if of]
    amount = _amount(evidence, comparison, max(means, default=0.0))
    how_many_times = comparison.relation == EQUAL or comparison.at_least != 1
    test = compare_two(
        *columns,
        differences=differences or amount is not None,
        times=how_many_times and amount is None,
        units=units,
    )
    return test, amount


def _percentiles(evidence: Evidence, comparison: Comparison, fraction: float) -> Made:
    cells = [evidence.requests(term) for term in comparison.terms]
    units = evidence.race.units
    if comparison.relation in (BELOW, ABOVE):
        return known(one_percentile(cells[0], fraction, units)), None
    pair = known(compare_percentiles(cells[0], cells[1], fraction, units))
    amount = _amount(evidence, comparison, pair.larger_ms)
    return (pair if amount is None else replace(pair, scale="difference")), amount


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
    share = comparison.within.share
    if comparison.relation == EQUAL:
        if amount is not None:
            return -amount, amount
        assert share is not None
        return 1 - share, 1 + share
    if comparison.relation in (BELOW, ABOVE):
        bound = 1.0
        if comparison.quantity == FIGURE:
            bound = evidence.amount(comparison.terms[0], comparison.within) or 0.0
        return (None, bound) if comparison.relation == BELOW else (bound, None)
    return (0.0 if scale == "difference" else comparison.at_least), None


# In how many blocks a claim holds: what a single run of each server would have shown. A report that
# measures each server once sees one block. If a claim holds in 11 of 20 blocks, two such reports
# contradict each other about half the time.


def single_runs(evidence: Evidence, comparisons: Sequence[Comparison]) -> tuple[int, int] | None:
    """Blocks in which every part holds, and blocks with every part; None if there are none."""
    try:
        found = [_held(evidence, comparison) for comparison in comparisons]
    except NoFigureError:
        return None
    blocks = set.intersection(*map(set, found)) if found else set()
    if not blocks:
        return None
    return sum(all(held[block] for held in found) for block in blocks), len(blocks)


def _held(evidence: Evidence, comparison: Comparison) -> dict[int, bool]:
    """Whether it holds, by block."""
    columns, differences = compared(evidence, comparison)
    if comparison.quantity == GAP:
        gaps = gaps_of(columns, differences=differences)
        return {at: by > 0 for at, by in gaps.in_units().items()}
    if len(columns) == 1:
        low, high = claimed(evidence, comparison, "")
        return {
            block: (low is None or low <= value) and (high is None or value <= high)
            for block, value in columns[0].items()
        }
    amount = evidence.amount(comparison.terms[0], comparison.within) or 0.0
    first, second = columns
    if comparison.quantity == SHARE:
        return {at: second[at] >= comparison.at_least * first[at] > 0 for at in first}
    return {
        block: _holds(comparison, first[block], second[block], amount)
        for block in first.keys() & second.keys()
    }


def _holds(comparison: Comparison, first: float, second: float, amount: float) -> bool:
    if comparison.relation == EQUAL:
        # Relative to the first, as in a ratio, unless it is 0.
        share = (comparison.within.share or 0.0) * (abs(first) or abs(second))
        return abs(second - first) <= max(share, amount)
    if comparison.at_least != 1:
        return second >= comparison.at_least * first
    return second > first
