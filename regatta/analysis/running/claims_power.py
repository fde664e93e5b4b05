"""Power of a study's claims before its first trial: the smallest detectable difference.

All comparisons of all claims are one family (claims/decide.py), so power falls with their number,
and comparisons of counters have only the counted blocks. Noise is simulated for a family of this
size and decided as the race will be (standings_power.py).
"""

from collections import Counter
from functools import cache
from statistics import median

import numpy as np

from regatta.analysis.claims.comparisons import comparisons
from regatta.analysis.running.standings_power import (
    DRAWS,
    RATIO_SD,
    SOME_WAYS,
    TARGET_PERCENT,
    TRIED,
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
from regatta.study.claims.cells import claim_cells, with_study_connections

Family = tuple[tuple[int, int], ...]
"""Pairs of blocks (or sittings) and the number of comparisons with so many; fewest blocks first."""


def claims_power_note(study: Study) -> str:
    """For the comparisons with the least power; empty if no claim can be decided."""
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
        f"{sum(count for _, count in family)} comparisons of claims in one family: for the "
        f"{have_fewest} with {units} {unit}s, differences below about {percent} % are not "
        f"detectable at 80 % power if a {unit}'s ratio varies by {100 * RATIO_SD:.0f} %"
    )
    needed = units_for(TARGET_PERCENT, family, in_sittings)
    if percent <= TARGET_PERCENT or needed is None:
        return text
    return f"{text}; {TARGET_PERCENT} % would take {needed} {unit}s"


def family_of(study: Study) -> Family:
    """Over the window, which decides; assumes that this machine has every counter.

    Timed and counted blocks are distinct, even if there are as many of each.
    """
    found = Counter[tuple[int, bool]]()
    for said in study.claims:
        claim = with_study_connections(said, study.cells)
        if set(claim.selectors()) <= claim_cells(claim, study.cells, WINDOW).keys():
            for comparison in comparisons(claim):
                metric = comparison.terms[0].metric
                kind = blocks_of(study, metric), is_counted(study, metric)
                found[(study.sittings, False) if study.sittings > 1 else kind] += 1
    return tuple((units, count) for (units, _), count in sorted(found.items()))


def units_for(percent: int, family: Family, in_sittings: bool) -> int | None:
    """Units, in place of the fewest, that detect such a difference; None: more than any tried."""
    least = family[0][0]
    for units in (units for units in TRIED if units > least):
        more = tuple((units if of == least else of, count) for of, count in family)
        if round(100 * smallest_difference(more, in_sittings)) <= percent:
            return units
    return None


@cache
def smallest_difference(family: Family, in_sittings: bool) -> float:
    """Detectable at 80 % power by the comparisons with the fewest units; as a share."""
    blocks = sum(units for units, _ in family)
    ways = rotated(blocks) if in_sittings else sign_flips(blocks)
    chance = np.random.default_rng(blocks)
    if len(ways) > SOME_WAYS:
        ways = ways[chance.choice(len(ways), SOME_WAYS, replace=False)]
    score = median(_score(chance, family, ways) for _ in range(DRAWS))
    return seen_beyond(score, family[0][0])


def _score(chance: np.random.Generator, family: Family, ways: Ways) -> float:
    """The critical score of a family of simulated noise; each kind has its own blocks."""
    shape = sum(count for _, count in family), ways.shape[1]
    values, known = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    row = column = 0
    for units, count in family:
        here = slice(row, row + count), slice(column, column + units)
        values[here], known[here] = chance.normal(size=(count, units)), True
        row, column = row + count, column + units
    return critical(Rows(values, known).furthest(ways), LEVEL)
