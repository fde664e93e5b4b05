"""The lead of the first over the second, for races that run until a target width."""

import math

import numpy as np

from regatta.analysis.statistics.paired_mean import PairedMean
from regatta.analysis.statistics.percentile_comparison import FEWEST_BLOCKS
from regatta.analysis.statistics.sign_flips import BlockValues

Values = dict[int, dict[str, BlockValues]]
"""Server CPU per request: by step, contender and block."""


def leads(values: Values) -> list[PairedMean | None]:
    """Logarithms of the leads at each step and overall; None for one with too few blocks."""
    contests = list(values.values())
    if len(contests) > 1:
        contests.append(_over_all(contests))
    ranked = [(contest, _first_two(contest)) for contest in contests]
    return [_lead(contest, *two) for contest, two in ranked if len(two) == 2]


def _first_two(contest: dict[str, BlockValues]) -> list[str]:
    means = {
        name: sum(values.values()) / len(values)
        for name, values in contest.items()
        if _is_known(values)
    }
    return sorted(means, key=lambda name: (means[name], name))[:2]


def _is_known(blocks: BlockValues) -> bool:
    return bool(blocks) and min(blocks.values()) > 0


def _lead(contest: dict[str, BlockValues], first: str, second: str) -> PairedMean | None:
    mine, theirs = contest[first], contest[second]
    common = sorted(mine.keys() & theirs.keys())
    if len(common) < FEWEST_BLOCKS:
        return None
    return PairedMean(np.array([math.log(theirs[block] / mine[block]) for block in common]))


def _over_all(contests: list[dict[str, BlockValues]]) -> dict[str, BlockValues]:
    """Geometric mean over the steps, block by block, of contenders that finished all steps."""
    names = set.intersection(*(set(contest) for contest in contests))
    found: dict[str, BlockValues] = {}
    for name in names:
        columns = [contest[name] for contest in contests]
        common = set.intersection(*(set(column) for column in columns))
        if all(_is_known(column) for column in columns):
            found[name] = {
                block: math.exp(sum(math.log(column[block]) for column in columns) / len(columns))
                for block in sorted(common)
            }
    return found
