"""Which differences a study's claims can show, told before its first trial.

All comparisons of all claims are one family (claims/decide.py): the more there are, the more each
must show, and those over counters have only the counted blocks. So noise is drawn for a family of
this size, and decided as the race will be (foretell.py).
"""

from collections import Counter
from functools import cache
from statistics import median

import numpy as np

from regatta.analysis.claims.comparisons import comparisons
from regatta.analysis.running.foretell import (
    DRAWS,
    SOME_WAYS,
    TRIED,
    VARIES,
    WISHED_PERCENT,
    seen_beyond,
)
from regatta.analysis.statistics.blocks_needed import (
    FEWEST_BLOCKS,
    FEWEST_SITTINGS,
    blocks_of,
    is_counted,
)
from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.sign_flips import Rows, Ways, critical, sign_flips
from regatta.analysis.statistics.units import rotated
from regatta.ledger.cell import WINDOW
from regatta.study import Study
from regatta.study.claims.cells import claim_cells, over_the_studys

Family = tuple[tuple[int, int], ...]
"""How many comparisons have how many blocks (or sittings), the fewest of these first."""


def claims_foretold(study: Study) -> str:
    """Of those that see least; empty where no claim can be decided."""
    in_sittings = study.sittings > 1
    fewest = FEWEST_SITTINGS if in_sittings else FEWEST_BLOCKS
    family = tuple(one for one in family_of(study) if one[0] >= fewest)
    if not family:
        return ""
    units = family[0][0]
    have_fewest = sum(count for of, count in family if of == units)
    percent = round(100 * smallest_difference(family, in_sittings))
    unit = "sitting" if in_sittings else "block"
    text = (
        f"{sum(count for _, count in family)} comparisons of claims in one table: the "
        f"{have_fewest} of {units} {unit}s show no difference below about {percent} % if a "
        f"{unit}'s ratio varies by {100 * VARIES:.0f} %"
    )
    needed = units_for(WISHED_PERCENT, family, in_sittings)
    if percent <= WISHED_PERCENT or needed is None:
        return text
    return f"{text}; {WISHED_PERCENT} % would take {needed} {unit}s"


def family_of(study: Study) -> Family:
    """Over the window, which decides; a counter that this machine lacks is taken to be there.

    Timed and counted blocks are others, and stand apart even if there are as many.
    """
    found = Counter[tuple[int, bool]]()
    for said in study.claims:
        claim = over_the_studys(said, study.cells)
        if set(claim.selectors()) <= claim_cells(claim, study.cells, WINDOW).keys():
            for comparison in comparisons(claim):
                metric = comparison.terms[0].metric
                kind = blocks_of(study, metric), is_counted(study, metric)
                found[(study.sittings, False) if study.sittings > 1 else kind] += 1
    return tuple((units, count) for (units, _), count in sorted(found.items()))


def units_for(percent: int, family: Family, in_sittings: bool) -> int | None:
    """How many in place of the fewest show so many per cent; None: more than anybody races."""
    least = family[0][0]
    for units in (units for units in TRIED if units > least):
        more = tuple((units if of == least else of, count) for of, count in family)
        if round(100 * smallest_difference(more, in_sittings)) <= percent:
            return units
    return None


@cache
def smallest_difference(family: Family, in_sittings: bool) -> float:
    """That the first of the family would show four times in five; as a share."""
    blocks = sum(units for units, _ in family)
    ways = rotated(blocks) if in_sittings else sign_flips(blocks)
    chance = np.random.default_rng(blocks)
    if len(ways) > SOME_WAYS:
        ways = ways[chance.choice(len(ways), SOME_WAYS, replace=False)]
    score = median(_score(chance, family, ways) for _ in range(DRAWS))
    return seen_beyond(score, family[0][0])


def _score(chance: np.random.Generator, family: Family, ways: Ways) -> float:
    """How far the intervals of a family of nothing but noise reach; each kind has its blocks."""
    shape = sum(count for _, count in family), ways.shape[1]
    values, known = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    row = column = 0
    for units, count in family:
        here = slice(row, row + count), slice(column, column + units)
        values[here], known[here] = chance.normal(size=(count, units)), True
        row, column = row + count, column + units
    return critical(Rows(values, known).furthest(ways), LEVEL)
