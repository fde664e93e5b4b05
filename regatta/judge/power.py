"""Power before the first trial: the smallest detectable lead, and the smallest detectable
difference of a claim; and the precision of a running race."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from regatta.judge.analyse import leads_of
from regatta.judge.claims.comparisons import comparisons
from regatta.judge.grouping import group
from regatta.judge.statistics.blocks_needed import (
    FEWEST_BLOCKS,
    FEWEST_SITTINGS,
    blocks_of,
    is_counted,
)
from regatta.judge.statistics.joint import Mean
from regatta.judge.statistics.sign_flips import LEVEL, Floats, Rows, Ways, critical, sign_flips
from regatta.judge.statistics.units import rotated
from regatta.record.cell import WINDOW, matched_cells
from regatta.record.read import connect, read
from regatta.record.schema import SUPERSEDED
from regatta.record.study import Study, with_rates
from regatta.record.study.claim_cells import claim_cells

QUERY = f"""
SELECT contender, connections, rate, idle, slow, workers, work, load, engine, dialect,
       avg(value / answered) / 1000.0 AS cpu_us_per_request, count(*) AS trials
FROM trial JOIN cell ON cell.id = trial.cell_id JOIN counter ON counter.trial_id = trial.id
WHERE trial.status = 'ok' AND client_bound IS NULL AND trial.kind = 'timed' AND answered > 0
  AND NOT {SUPERSEDED}
  AND side = 'server' AND origin = 'kernel' AND event = 'cpu-time' AND state = 'counted'
GROUP BY cell.id ORDER BY contender_order, contender, cell.id
"""


def quick_standings(ledger_path: Path) -> list[dict[str, Any]]:
    """Mean server CPU per request of each cell that has a finished timed trial."""
    with connect(ledger_path) as connection:
        return [dict(row) for row in connection.execute(QUERY)]


# The precision of a race so far, for races that run until a target width. Only the widths of
# intervals are used, never their positions: stopping at significance would inflate false alarms.
# Each interval is at 95 % by itself, not simultaneous as in the report, where the width depends on
# the other contenders.


def reason_to_stop(path: Path, width_percent: float) -> str | None:
    """Why a race is as exact as it was asked to be; None while it is not."""
    widest = widest_lead(path)
    if widest is None or widest * 100 > width_percent:
        return None
    return (
        f"the widest interval of a lead is {widest * 100:.1f} % wide, and {width_percent:g} % was "
        "asked for"
    )


def widest_lead(path: Path) -> float | None:
    """The widest interval of all leads, upper end / lower end - 1; None while a lead has none."""
    widths: list[float] = []
    for lead in leads_of(read(path)):
        interval = None if lead is None else lead.interval()
        if interval is None:
            return None
        widths.append(math.exp(interval[1] - interval[0]) - 1)
    return max(widths, default=None)


# Power of a study's standings before its first trial: the smallest detectable lead. It depends on
# the number of contenders, steps and blocks (or sittings) of a table, and on the standard deviation
# of a ratio, which is unknown before the race and assumed here. Noise is simulated for a table of
# this shape and decided as the race will be.

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


# Power of a study's claims before its first trial: the smallest detectable difference. All
# comparisons of all claims are one family (claims/judge.py), so power falls with their number, and
# comparisons of counters have only the counted blocks. Noise is simulated for a family of this size
# and decided as the race will be.

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
    needed = units_for_claims(TARGET_PERCENT, family, in_sittings)
    if percent <= TARGET_PERCENT or needed is None:
        return text
    return f"{text}; {TARGET_PERCENT} % would take {needed} {unit}s"


def family_of(study: Study) -> Family:
    """Over the window, which decides; assumes that this machine has every counter.

    Timed and counted blocks are distinct, even if there are as many of each.
    """
    found = Counter[tuple[int, bool]]()
    for claim in study.claims:
        if set(claim.selectors()) <= claim_cells(claim, study.cells, WINDOW).keys():
            for comparison in comparisons(claim):
                metric = comparison.terms[0].metric
                kind = blocks_of(study, metric), is_counted(study, metric)
                found[(study.sittings, False) if study.sittings > 1 else kind] += 1
    return tuple((units, count) for (units, _), count in sorted(found.items()))


def units_for_claims(percent: int, family: Family, in_sittings: bool) -> int | None:
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
    score = median(_score_of_claims(chance, family, ways) for _ in range(DRAWS))
    return seen_beyond(score, family[0][0])


def _score_of_claims(chance: np.random.Generator, family: Family, ways: Ways) -> float:
    """The critical score of a family of simulated noise; each kind has its own blocks."""
    shape = sum(count for _, count in family), ways.shape[1]
    values, known = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    row = column = 0
    for units, count in family:
        here = slice(row, row + count), slice(column, column + units)
        values[here], known[here] = chance.normal(size=(count, units)), True
        row, column = row + count, column + units
    return critical(Rows(values, known).furthest(ways), LEVEL)
