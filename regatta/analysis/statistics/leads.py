"""How far the first is ahead of the second, for a race that runs until a width is reached."""

import math

import numpy as np

from regatta.analysis.statistics.swaps import Swapped
from regatta.analysis.statistics.turned import BlockValues

FEWEST_BLOCKS = 2

Values = dict[int, dict[str, BlockValues]]
"""Server CPU per request: by step, contender and block."""


def leads(values: Values) -> list[Swapped | None]:
    """The logarithms of the leads at each step, and overall; None: one of too few blocks."""
    places = list(values.values())
    if len(places) > 1:
        places.append(_over_all(places))
    ranked = [(place, _first_two(place)) for place in places]
    return [_lead(place, *two) for place, two in ranked if len(two) == 2]


def _first_two(place: dict[str, BlockValues]) -> list[str]:
    means = {name: sum(own.values()) / len(own) for name, own in place.items() if _is_known(own)}
    return sorted(means, key=lambda name: (means[name], name))[:2]


def _is_known(blocks: BlockValues) -> bool:
    return bool(blocks) and min(blocks.values()) > 0


def _lead(place: dict[str, BlockValues], first: str, second: str) -> Swapped | None:
    mine, theirs = place[first], place[second]
    shared = sorted(mine.keys() & theirs.keys())
    if len(shared) < FEWEST_BLOCKS:
        return None
    return Swapped(np.array([math.log(theirs[block] / mine[block]) for block in shared]))


def _over_all(places: list[dict[str, BlockValues]]) -> dict[str, BlockValues]:
    """Each contender's geometric mean over the steps, block by block, if it finished all."""
    names = set.intersection(*(set(place) for place in places))
    found: dict[str, BlockValues] = {}
    for name in names:
        columns = [place[name] for place in places]
        shared = set.intersection(*(set(column) for column in columns))
        if all(_is_known(column) for column in columns):
            found[name] = {
                block: math.exp(sum(math.log(column[block]) for column in columns) / len(columns))
                for block in sorted(shared)
            }
    return found
