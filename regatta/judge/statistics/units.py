"""The independent units of a race, its blocks or sittings, and the variance between them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.judge.interval import Interval
from regatta.judge.statistics.autocorrelation import Reach, reach_of
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS, FEWEST_SITTINGS
from regatta.judge.statistics.sign_flips import (
    DRAWN_WAYS,
    LEVEL,
    BlockValues,
    Floats,
    Ways,
    sign_flips,
)
from regatta.record.records import RaceRecord

# The independent units of a race: its blocks, or the sittings that they belong to. The blocks of
# one sitting share the link order of the server, the networks, the boot and the hour. With several
# sittings a verdict must generalise to another sitting: then the unit is the sitting, with the mean
# of each difference over its blocks. Blocks are never pooled, even if the sittings seem to agree
# (few sittings often do by chance).
#
# Few sittings have few sign flips: 2^5 are too few for 5 %. So the vector of all sittings is
# rotated at random instead (Langsrud 2005). That assumes more: the means of the sittings must be
# jointly normal with equal variance. Then it is exact for any number of sittings and differences
# and any dependence between them.

FEWEST_FOR_A_LEVEL = 2


@dataclass(frozen=True)
class Units:
    sitting_of: Mapping[int, int] = field(default_factory=dict)
    """Sitting by block; empty if the blocks are the units."""

    few: bool = False
    """Whether so few blocks were planned, as servers took long to be warm, that they are rotated as
    sittings are: each is a process, and its figure the mean over a long window."""

    @property
    def name(self) -> str:
        return "sittings" if self.sitting_of else "blocks"

    @property
    def fewest(self) -> int:
        """Units that a verdict needs."""
        return FEWEST_SITTINGS if self.sitting_of or self.few else FEWEST_BLOCKS

    def gathered(self, values: BlockValues) -> BlockValues:
        """One number a unit: the mean over its blocks."""
        if not self.sitting_of:
            return values
        found: dict[int, list[float]] = {}
        for block, value in values.items():
            found.setdefault(self.sitting_of[block], []).append(value)
        return {number: sum(of_unit) / len(of_unit) for number, of_unit in sorted(found.items())}

    def columns(self, blocks: Sequence[int], rows: Floats) -> tuple[list[int], Floats]:
        """The same for rows with a column a block, NaN where missing."""
        if not self.sitting_of:
            return list(blocks), rows
        numbers = sorted({self.sitting_of[block] for block in blocks})
        belongs = np.array([self.sitting_of[block] for block in blocks], dtype=np.int64)
        member = (belongs[:, None] == np.array(numbers)).astype(np.float64)
        known = np.isfinite(rows)
        with np.errstate(invalid="ignore"):
            means = (np.where(known, rows, 0.0) @ member) / (known @ member)
        return numbers, means

    def reach_of(self, blocks: Sequence[int]) -> Reach:
        """Half-width of the interval of a mean; with sittings, by Student's t of their means."""
        if not self.sitting_of:
            return reach_of

        def reach(values: Floats) -> float | None:
            means = np.array(list(self.gathered(dict(zip(blocks, values, strict=True))).values()))
            if len(means) < FEWEST_FOR_A_LEVEL:
                return None
            error = float(means.std(ddof=1)) / math.sqrt(len(means))
            return float(special.stdtrit(len(means) - 1, 1 - LEVEL / 2)) * error

        return reach

    def ways(self, count: int) -> Ways:
        return rotated(count) if self.sitting_of or self.few else sign_flips(count)


BLOCKS = Units()
FEW_BLOCKS = Units(few=True)


def sittings_of(ledger: RaceRecord) -> int:
    """The number of sittings that the race was started with."""
    return int(ledger.meta.get("sittings", 1))


def units_of(ledger: RaceRecord) -> Units:
    """Sittings, if the race was started with several, even if they have not been raced yet."""
    if sittings_of(ledger) < 2:
        return FEW_BLOCKS if ledger.meta.get("few_blocks") == "yes" else BLOCKS
    return Units({trial.block: trial.sitting for trial in ledger.trials})


@cache
def rotated(units: int) -> Floats:
    """Random rotations of so many units, one a row; the first is the identity.

    A mean over rotated units is the product with a random direction.
    """
    if not units:
        return np.ones((1, 0))
    drawn = np.random.default_rng(units).normal(size=(DRAWN_WAYS, units))
    drawn *= math.sqrt(units) / np.sqrt((drawn * drawn).sum(axis=1, keepdims=True))
    drawn[0] = 1.0
    return drawn


# Variance components of a race: between its sittings, and between the blocks of a sitting. For
# every pair of contenders at every step, the variance of the log ratio is split in two: between
# blocks of one sitting, which more blocks average out, and between sittings (link order, boot,
# hour), which they do not. Both are averaged over all pairs of a table. The share's interval is
# that of a ratio of two normal variances. All pairs together count as one, because a contender's
# deviation in a sitting is in all of its pairs.

FEWEST_IN_A_SITTING = 2


@dataclass(frozen=True)
class Between:
    """Of one table."""

    sittings: int
    share: Interval
    """Share of the variance of one block's ratio that lies between sittings."""
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
    return Between(sittings, Interval(share, low, high), math.expm1(min(another, 50.0)))


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
