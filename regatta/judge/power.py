"""Power before the first trial: the smallest detectable lead; and the precision of a running
race."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import fmean, median

import numpy as np

from regatta.judge.contrast import usable_by_block
from regatta.judge.grouping import group
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS, FEWEST_SITTINGS
from regatta.judge.statistics.joint import Mean, PairedMean
from regatta.judge.statistics.percentile_comparison import FEWEST_BLOCKS as FEWEST_IN_COMMON
from regatta.judge.statistics.sign_flips import LEVEL, BlockValues, Rows, Ways, critical, sign_flips
from regatta.judge.statistics.units import rotated
from regatta.record.cell import WINDOW, matched_cells
from regatta.record.metrics import PRIMARY
from regatta.record.read import read
from regatta.record.study import Study, with_rates

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
    for lead in leads_of(path):
        if lead.count < FEWEST_IN_COMMON:
            return None
        interval = lead.interval()
        widths.append(math.exp(interval.high - interval.low) - 1)
    return max(widths, default=None)


def leads_of(path: Path) -> Iterator[PairedMean]:
    """Of all tables, at each step and over all: logarithms of the second's server CPU per request
    over the first's, in the blocks that they have in common."""
    ledger = read(path)
    known = {number: usable_by_block(PRIMARY, of) for number, of in ledger.by_cell.items()}
    for members in group(ledger.cells):
        logs = [
            {
                cell.contender: {block: math.log(value) for block, value in blocks.items()}
                for cell in members.at(step)
                if (blocks := known.get(cell.id, {})) and min(blocks.values()) > 0
            }
            for step in members.steps
        ]
        for contest in [*logs, _over_all(logs)] if len(logs) > 1 else logs:
            means = {name: sum(of.values()) / len(of) for name, of in contest.items()}
            ranked = sorted(means, key=lambda name: (means[name], name))
            if len(ranked) > 1:
                less, more = contest[ranked[0]], contest[ranked[1]]
                common = sorted(less.keys() & more.keys())
                yield PairedMean(np.array([more[block] - less[block] for block in common]))


def _over_all(steps: list[dict[str, BlockValues]]) -> dict[str, BlockValues]:
    """The mean over the steps, block by block, of contenders that finished all of them."""
    found = {}
    for name in set.intersection(*map(set, steps)):
        columns = [step[name] for step in steps]
        common = sorted(set.intersection(*map(set, columns)))
        if common:
            found[name] = {block: fmean(column[block] for column in columns) for block in common}
    return found


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
    unit, fewest = ("sitting", FEWEST_SITTINGS) if in_sittings else ("block", FEWEST_BLOCKS)
    tables = [(shape, units) for shape, units in shapes(study) if units >= fewest]
    if not tables:
        return ""

    def percent(shape: Shape, units: int) -> int:
        return round(100 * smallest_lead(shape, units, in_sittings))

    shape, units = max(tables, key=lambda table: smallest_lead(*table, in_sittings))
    steps = f"{len(shape)} steps" if len(shape) > 1 else "one step"
    text = (
        f"{units} {unit}s, and {max(shape)} contenders at {steps} in one table: leads below about "
        f"{percent(shape, units)} % are not detectable at 80 % power if a {unit}'s ratio varies by "
        f"{100 * RATIO_SD:.0f} %"
    )
    if percent(shape, units) > TARGET_PERCENT:
        for tried in (tried for tried in TRIED if tried > units):
            if percent(shape, tried) <= TARGET_PERCENT:
                return f"{text}; {TARGET_PERCENT} % would take {tried} {unit}s"
    return text


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


@cache
def smallest_lead(shape: Shape, units: int, in_sittings: bool) -> float:
    """Detectable at 80 % power; as a share."""

    ways = rotated(units) if in_sittings else sign_flips(units)
    chance = np.random.default_rng(units)
    if len(ways) > SOME_WAYS:
        ways = ways[chance.choice(len(ways), SOME_WAYS, replace=False)]
    score = median(_score(chance, shape, units, ways) for _ in range(DRAWS))
    return math.expm1(Mean(0.0, RATIO_SD / math.sqrt(units), units).detectable(score))


def _score(chance: np.random.Generator, shape: Shape, units: int, ways: Ways) -> float:
    """The critical score of a table of simulated noise."""
    contests = [chance.normal(size=(contenders, units)) for contenders in shape]
    if len(shape) > 1:
        everywhere = min(shape)
        contests.append(np.mean([contest[:everywhere] for contest in contests], axis=0))
    rows = np.array(
        [first - second for contest in contests for first, second in combinations(contest, 2)]
    )
    return critical(Rows(rows, np.ones(rows.shape, dtype=np.bool_)).furthest(ways), LEVEL)
