"""Power of a study's standings before its first trial: the smallest detectable lead.

It depends on the number of contenders, steps and blocks (or sittings) of a table, and on the
standard deviation of a ratio, which is unknown before the race and assumed here. Noise is simulated
for a table of this shape and decided as the race will be.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from statistics import median

import numpy as np

from regatta.analysis.grouping import group
from regatta.analysis.statistics.blocks_needed import FEWEST_BLOCKS, FEWEST_SITTINGS
from regatta.analysis.statistics.joint import Mean
from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.sign_flips import Floats, Rows, Ways, critical, sign_flips
from regatta.analysis.statistics.units import rotated
from regatta.ledger.cell import WINDOW, matched_cells
from regatta.study import Study, with_rates

RATIO_SD = 0.05
"""Assumed standard deviation of a ratio in one block or sitting."""
TARGET_PERCENT = 10
TRIED: tuple[int, ...] = (*range(FEWEST_SITTINGS, 13), 14, 16, 20, 24, 32, 48, 64)
DRAWS = 5
ANY_RATE = 1_000_000
"""A stand-in for the rate that a search has yet to find."""
SOME_WAYS = 1_024
"""Enough for a result in whole per cent."""

Shape = tuple[int, ...]
"""How many contenders a table compares at each of its steps."""


def standings_power_note(study: Study) -> str:
    """For the table with the least power; empty if no table can decide anything."""
    in_sittings = study.sittings > 1
    tables = [
        (shape, units)
        for shape, units in shapes(study)
        if units >= (FEWEST_SITTINGS if in_sittings else FEWEST_BLOCKS)
    ]
    if not tables:
        return ""
    found = {table: smallest_lead(*table, in_sittings) for table in tables}
    shape, units = max(found, key=lambda table: found[table])
    unit = "sitting" if in_sittings else "block"
    steps = f"{len(shape)} steps" if len(shape) > 1 else "one step"
    percent = round(100 * found[shape, units])
    text = (
        f"{units} {unit}s, and {max(shape)} contenders at {steps} in one table: leads below about "
        f"{percent} % are not detectable at 80 % power if a {unit}'s ratio varies by "
        f"{100 * RATIO_SD:.0f} %"
    )
    needed = units_for(TARGET_PERCENT, shape, units, in_sittings)
    if percent <= TARGET_PERCENT or needed is None:
        return text
    return f"{text}; {TARGET_PERCENT} % would take {needed} {unit}s"


def shapes(study: Study) -> list[tuple[Shape, int]]:
    """The shape of each table with more than one contender, and its number of units."""
    # The number of steps does not depend on the rate that their shares are of.
    known = with_rates(study.cells, dict.fromkeys(matched_cells(study.cells), ANY_RATE))
    cells = [replace(cell, id=at) for at, cell in enumerate(known)]
    found = []
    for members in group(cells):
        steps = [{cell.contender for cell in members.at(step)} for step in members.steps]
        shape = tuple(len(names) for names in steps if len(names) > 1)
        windows = all(cell.scope == WINDOW for cell in members.cells)
        blocks = study.blocks if windows else study.blocks + study.counted_blocks
        if shape:
            found.append((shape, study.sittings if study.sittings > 1 else blocks))
    return found


def units_for(percent: int, shape: Shape, least: int, in_sittings: bool) -> int | None:
    """Units needed to detect such a lead; None: more than any tried."""
    for units in (units for units in TRIED if units > least):
        if round(100 * smallest_lead(shape, units, in_sittings)) <= percent:
            return units
    return None


@cache
def smallest_lead(shape: Shape, units: int, in_sittings: bool) -> float:
    """Detectable at 80 % power; as a share."""
    ways = rotated(units) if in_sittings else sign_flips(units)
    chance = np.random.default_rng(units)
    if len(ways) > SOME_WAYS:
        ways = ways[chance.choice(len(ways), SOME_WAYS, replace=False)]
    score = median(_score(chance, shape, units, ways) for _ in range(DRAWS))
    return seen_beyond(score, units)


def seen_beyond(score: float, units: int) -> float:
    """What one comparison detects at 80 % power at this critical score; as a share."""
    return math.expm1(Mean(0.0, RATIO_SD / math.sqrt(units), units).detectable(score))


def _score(chance: np.random.Generator, shape: Shape, units: int, ways: Ways) -> float:
    """The critical score of a table of simulated noise."""
    steps = [chance.normal(size=(contenders, units)) for contenders in shape]
    contests = list(steps)
    if len(steps) > 1:
        everywhere = min(shape)
        contests.append(np.mean([step[:everywhere] for step in steps], axis=0))
    rows = np.concatenate([_pairs(contest) for contest in contests])
    return critical(Rows(rows, np.ones(rows.shape, dtype=np.bool_)).furthest(ways), LEVEL)


def _pairs(contest: Floats) -> Floats:
    pairs: Sequence[tuple[int, int]] = list(itertools.combinations(range(len(contest)), 2))
    found: Floats = np.array([contest[first] - contest[second] for first, second in pairs])
    return found
