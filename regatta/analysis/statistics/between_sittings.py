"""Variance components of a race: between its sittings, and between the blocks of a sitting.

For every pair of contenders at every step, the variance of the log ratio is split in two: between
blocks of one sitting, which more blocks average out, and between sittings (link order, boot, hour),
which they do not. Both are averaged over all pairs of a table. The share's interval is that of a
ratio of two normal variances. All pairs together count as one, because a contender's deviation in a
sitting is in all of its pairs.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.sign_flips import BlockValues, Floats

FEWEST_IN_A_SITTING = 2


@dataclass(frozen=True)
class Between:
    """Of one table."""

    sittings: int
    share: float
    """Share of the variance of one block's ratio that lies between sittings."""
    low: float
    high: float
    """The ends of its 95 % interval."""
    reach: float
    """95 % prediction interval of a ratio from one other sitting of as many blocks: 0.03 is 3 %."""


def between(
    steps: Sequence[Mapping[str, BlockValues]], sitting_of: Mapping[int, int]
) -> Between | None:
    """None unless two contenders share two sittings, one of them with two blocks."""
    parts = [part for step in steps for part in _pairs(step, sitting_of)]
    if not parts:
        return None
    sittings = min(len(part) for part in parts)
    spreads = [float(np.var([sitting.mean() for sitting in part], ddof=1)) for part in parts]
    spread = float(np.mean(spreads))
    free = min(sum(len(sitting) - 1 for sitting in part) for part in parts)
    noise = float(np.mean([_noise(part) for part in parts]))
    blocks = len(parts[0]) / sum(1 / len(sitting) for sitting in parts[0])
    if spread + noise == 0:
        return None
    ratio = blocks * spread / noise if noise > 0 else math.inf
    ends = [float(special.fdtri(sittings - 1, free, one)) for one in (1 - LEVEL / 2, LEVEL / 2)]
    low, share, high = (_share(ratio / end, blocks) for end in (ends[0], 1.0, ends[1]))
    another = float(special.stdtrit(sittings - 1, 1 - LEVEL / 2)) * math.sqrt(
        spread * (1 + 1 / sittings)
    )
    return Between(sittings, share, low, high, math.expm1(min(another, 50.0)))


def _pairs(
    step: Mapping[str, BlockValues], sitting_of: Mapping[int, int]
) -> Iterator[list[Floats]]:
    """Differences of logarithms of every pair, by sitting."""
    logs = {
        name: {block: math.log(value) for block, value in values.items()}
        for name, values in step.items()
        if values and min(values.values()) > 0
    }
    for first, second in combinations(sorted(logs), 2):
        found: dict[int, list[float]] = {}
        for block in sorted(logs[first].keys() & logs[second].keys()):
            difference = logs[first][block] - logs[second][block]
            found.setdefault(sitting_of[block], []).append(difference)
        if len(found) > 1 and max(map(len, found.values())) >= FEWEST_IN_A_SITTING:
            yield [np.array(values) for values in found.values()]


def _noise(part: Sequence[Floats]) -> float:
    """Variance between blocks of a sitting."""
    free = sum(len(sitting) - 1 for sitting in part)
    return sum(float(((sitting - sitting.mean()) ** 2).sum()) for sitting in part) / free


def _share(ratio: float, blocks: float) -> float:
    """`ratio`: variance of sitting means relative to what their blocks alone would cause."""
    if math.isinf(ratio):
        return 1.0
    larger = max(0.0, (ratio - 1) / blocks)
    return larger / (1 + larger)
