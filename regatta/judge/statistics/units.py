"""The independent units of a race, its blocks or sittings, and how far sittings differ."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

import numpy as np
from scipy import special  # type: ignore[import-untyped]

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

    def reach_of(self, blocks: Sequence[int]) -> Reach:
        """Half-width of the interval of a mean; with sittings, by Student's t of their means."""
        if not self.sitting_of:
            return reach_of

        def reach(values: Floats) -> float | None:
            means = np.array(list(self.gathered(dict(zip(blocks, values, strict=True))).values()))
            if len(means) < 2:
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


# How far sittings differ: link order, boot and hour, which more blocks do not average out.


@dataclass(frozen=True)
class Between:
    """Of one table."""

    sittings: int
    reach: float
    """95 % prediction interval of a ratio from one other sitting of as many blocks: 0.03 is 3 %."""


def between(steps: Sequence[Mapping[str, BlockValues]], units: Units) -> Between | None:
    """From the log ratios of all pairs; None unless two contenders share two sittings."""
    parts = []
    for step in steps:
        logs = {
            name: {block: math.log(value) for block, value in values.items()}
            for name, values in step.items()
            if values and min(values.values()) > 0
        }
        for first, second in combinations(logs.values(), 2):
            common = sorted(first.keys() & second.keys())
            means = units.gathered({block: first[block] - second[block] for block in common})
            if len(means) > 1:
                parts.append(list(means.values()))
    if not parts:
        return None
    sittings = min(map(len, parts))
    spread = float(np.mean([np.var(means, ddof=1) for means in parts]))
    error = math.sqrt(spread * (1 + 1 / sittings))
    another = float(special.stdtrit(sittings - 1, 1 - LEVEL / 2)) * error
    return Between(sittings, math.expm1(min(another, 50.0)))
