"""Who may be the best: of every contender, whether it is shown to be worse than another.

All contenders at all steps of a table are one family, and it is right as a whole in 19 of 20
tables: whoever is as good as any other is then nowhere called worse. What each is held against is
the largest of its differences to the others, each over its own noise. How large that becomes by
chance is known without knowing how large or how heavy the noise of one contender or another is, if
a pair's differences are symmetric about their mean: then, of two that are alike, a block's
difference might as well have had the other sign, and so might all differences of that block at
once. Bursts of one of two are not symmetric; what they do is measured (`calibrate --only stars`).
All 2^n ways to turn whole blocks round (or some thousands of them) give the distribution of the
largest, with all dependence between the pairs and the steps; and 6 blocks are enough for 5 %,
however many contenders there are. Whoever is shown to be worse first needs no protection any more,
and leaves the family to the others (Westfall and Young 1993, step down).
A mean over steps is at least as far out as the nearest of these, so whoever is worse than another
at every step is worse over all of them too.

The interval of a contender is that of its difference to the best of the others, whoever that is
(multiple comparisons with the best, Hsu 1984). How far it reaches is found by turning round what
is left of the differences without their means: all intervals hold together in 19 of 20 tables.
Stepping down sees more than such intervals do. Where they would contradict the decision they end
at "no difference": so one lies beyond it exactly where the contender is shown to be worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

LEVEL = 0.05
FEWEST_BLOCKS = 6
"""Two of the 2^n ways to turn n blocks round are as far out as can be: 2 / 2^6 is below 5 %."""
ALL_WAYS_TO = 12
"""More blocks than this are turned round in some of the ways, drawn with a fixed seed."""
DRAWN_WAYS = 4_096
BATCH = 512
"""Ways that are scored at once: all pairs of all ways would take many times the memory."""
POWER = 0.8
ROUNDING = 1e-9
JUST_BEYOND = 1e-9
"""No difference, and none smaller than it."""

BlockValues = dict[int, float]
"""One contender's figure in each block."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Standing:
    """One contender beside the best of the others, in one place. More is worse."""

    worse: bool
    """Than another: shown, and not only so in this race."""
    value: float
    """Less the best of the others."""
    low: float
    high: float
    p_value: float
    """Of its being as good as any other; corrected for all of the family."""
    blocks: int
    """Of the comparison with the best of the others."""
    detectable: float
    """The smallest `value` that would have been seen four times in five."""


Place = Sequence[Mapping[str, BlockValues]]
"""Who is compared: the figures at one step, or at several whose mean is compared."""


def standings(places: Sequence[Place], level: float = LEVEL) -> list[dict[str, Standing]]:
    """Of each place everybody who shares enough blocks with another; the others are in none."""
    pairs = [_Pairs.of(place) for place in places]
    blocks = sorted({block for place in pairs for block in place.blocks})
    ways = turned(len(blocks))
    family = _Family.of(pairs, [ways[:, np.searchsorted(blocks, one.blocks)] for one in pairs])
    return family.decide(level)


@cache
def turned(blocks: int) -> NDArray[np.int8]:
    """Ways to turn whole blocks round, one a row; the first leaves all as they are."""
    if blocks <= ALL_WAYS_TO:
        bits = (np.arange(2**blocks)[:, None] >> np.arange(blocks) & 1).astype(np.int8)
    else:
        bits = np.random.default_rng(blocks).integers(0, 2, (DRAWN_WAYS, blocks), dtype=np.int8)
        bits[0] = 0
    return 1 - 2 * bits


@dataclass(frozen=True)
class _Pairs:
    """All pairs of one place: the first's figure less the second's in each block."""

    names: list[str]
    blocks: list[int]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    apart: Floats
    """One row a pair, one column a block; 0 where one of the two is missing."""
    known: NDArray[np.bool_]
    count: NDArray[np.int64]
    """Blocks that both have."""

    @classmethod
    def of(cls, place: Place) -> _Pairs:
        names = sorted({name for step in place for name, own in step.items() if own})
        blocks = sorted({block for step in place for own in step.values() for block in own})
        figures = np.array(
            [
                [[step.get(name, {}).get(block, math.nan) for block in blocks] for name in names]
                for step in place
            ]
        ).reshape(len(place), len(names), len(blocks))
        first, second = np.triu_indices(len(names), 1)
        # Over several steps two are compared at those that both raced, in the blocks in which both
        # finished all of these: a failure at the hardest step must not look like a gain.
        raced = np.isfinite(figures).any(axis=2)
        both = raced[:, first] & raced[:, second]
        apart = figures[:, first] - figures[:, second]
        counted = np.where(both[:, :, None], apart, 0.0).sum(axis=0)
        steps = np.maximum(both.sum(axis=0), 1)
        apart = counted / steps[:, None]
        known = np.isfinite(apart) & both.any(axis=0)[:, None]
        count = known.sum(axis=1)
        enough = count >= FEWEST_BLOCKS
        return cls(
            names,
            blocks,
            first[enough],
            second[enough],
            np.where(known, apart, 0.0)[enough],
            known[enough],
            count[enough],
        )

    def scores(self, ways: NDArray[np.int8], apart: Floats | None = None) -> Floats:
        """How far out each pair's mean is, in standard deviations; one row a way."""
        apart = self.apart if apart is None else apart
        sums = ways.astype(np.float64) @ apart.T
        squares = (apart * apart).sum(axis=1)
        # What the sum of squares allows is the same however blocks are turned.
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(squares > 0, sums * sums / (self.count * squares), 0.0)
        return np.sign(sums) * score_of(np.minimum(share, 1 - 1e-12), self.count - 1)

    def furthest(self, ways: NDArray[np.int8]) -> Floats:
        """The largest score of all pairs by noise alone: of what is left without their means."""
        left = np.where(self.known, self.apart - self.means[:, None], 0.0)
        scores = np.abs(self.scores(ways, left))
        found: Floats = scores.max(axis=1, initial=0.0)
        return found

    def worst(self, scores: Floats) -> Floats:
        """For each name, how far it is behind whom it is furthest behind; one row a way."""
        found = np.full((len(scores), len(self.names)), -np.inf)
        for at in range(len(self.names)):
            mine = np.concatenate(
                [scores[:, self.first == at], -scores[:, self.second == at]], axis=1
            )
            if mine.shape[1]:
                found[:, at] = mine.max(axis=1)
        return found

    @cached_property
    def means(self) -> Floats:
        found: Floats = self.apart.sum(axis=1) / self.count
        return found

    @cached_property
    def errors(self) -> Floats:
        squares = (self.apart * self.apart).sum(axis=1) - self.count * self.means**2
        rounding = 1e-12 * self.count * self.means**2
        spread = np.where(squares > rounding, squares, 0.0) / (self.count - 1)
        found: Floats = np.sqrt(spread / self.count)
        return found

    def standing(self, at: int, score: float, worse: bool, p_value: float) -> Standing:
        mine = np.concatenate([np.flatnonzero(self.first == at), np.flatnonzero(self.second == at)])
        sign = np.where(self.first[mine] == at, 1.0, -1.0)
        means, errors, free = sign * self.means[mine], self.errors[mine], self.count[mine] - 1
        reach = t_of(score, free) * errors
        best = int(means.argmax())
        seen = reach[best] + float(stats.t.ppf(POWER, free[best])) * errors[best]
        return Standing(
            worse=worse,
            value=float(means[best]),
            low=agreeing(float((means - reach).max()), worse),
            high=float((means + reach).max()),
            p_value=p_value,
            blocks=int(free[best]) + 1,
            detectable=float(seen),
        )


@dataclass(frozen=True)
class _Family:
    """Everybody who can be compared, in all places."""

    pairs: list[_Pairs]
    members: list[tuple[int, int]]
    """Place and name."""
    chance: Floats
    """How far behind each would be; one row a way to turn the blocks, the first as they are."""
    furthest: Floats
    """By noise alone, of all pairs in all places."""

    @classmethod
    def of(cls, pairs: list[_Pairs], ways: list[NDArray[np.int8]]) -> _Family:
        members: list[tuple[int, int]] = []
        columns: list[Floats] = [np.zeros((len(ways[0]) if ways else 1, 0))]
        furthest = np.zeros(len(columns[0]))
        for place, one in enumerate(pairs):
            batches = [ways[place][at : at + BATCH] for at in range(0, len(ways[place]), BATCH)]
            worst = np.concatenate([one.worst(one.scores(batch)) for batch in batches])
            by_noise = np.concatenate([one.furthest(batch) for batch in batches])
            compared = np.flatnonzero(np.isfinite(worst[0]))
            members += [(place, int(at)) for at in compared]
            columns.append(worst[:, compared])
            furthest = np.maximum(furthest, by_noise)
        return cls(pairs, members, np.concatenate(columns, axis=1), furthest)

    def decide(self, level: float) -> list[dict[str, Standing]]:
        found: list[dict[str, Standing]] = [{} for _ in self.pairs]
        ahead = self._ahead()
        seen = self.chance[0]
        order = np.argsort(-seen, kind="stable")
        # The largest of those that are left: what the one in question is held against.
        left = np.maximum.accumulate(self.chance[:, order[::-1]], axis=1)[:, ::-1]
        allowed = math.floor(level * len(left) + ROUNDING)
        reach = critical(self.furthest, allowed)
        adjusted, stopped = 0.0, False
        for step, member in enumerate(order):
            largest = left[:, step]
            adjusted = max(adjusted, float((largest >= seen[member] - ROUNDING).mean()))
            stopped = stopped or seen[member] <= critical(largest, allowed) + ROUNDING
            worse = not stopped and member not in ahead
            place, at = self.members[member]
            one = self.pairs[place]
            found[place][one.names[at]] = one.standing(at, reach, worse, adjusted)
        return found

    def _ahead(self) -> set[int]:
        """In each place whoever is least behind: with blocks missing each may be behind another."""
        least: dict[int, int] = {}
        for member, (place, _) in enumerate(self.members):
            if self.chance[0, member] < self.chance[0, least.setdefault(place, member)]:
                least[place] = member
        return set(least.values())


def agreeing(low: float, worse: bool) -> float:
    """The lower end of an interval, on the side of "no difference" that the decision is on."""
    return max(low, JUST_BEYOND) if worse else min(low, 0.0)


def critical(chance: Floats, allowed: int) -> float:
    """What is exceeded as often as is allowed."""
    return float(np.partition(chance, -1 - allowed)[-1 - allowed])


def score_of(share: Floats, free: NDArray[np.int64]) -> Floats:
    """Of a mean that makes up this share of the mean square, as if normal (Wallace 1959).

    So pairs with fewer blocks in common stand beside those with more.
    """
    return (8 * free + 1) / (8 * free + 3) * np.sqrt(-free * np.log1p(-share))


def t_of(score: float, free: NDArray[np.int64]) -> Floats:
    """The reverse: how many standard errors a mean must be away from 0 to score so much."""
    inner = (score * (8 * free + 3) / (8 * free + 1)) ** 2 / free
    return np.sqrt(free * np.expm1(inner))
