"""Multiple comparisons with the best: for every contender, whether it is shown to be worse.

All contenders at all steps of a table are one family with a family-wise error rate of 5 %: with
that probability at most, any contender as good as the best is called worse. The statistic of a
contender is the largest of its differences to the others, each divided by its own noise. Its null
distribution needs only that a pair's differences are symmetric about their mean: between equals, a
block's differences might as well all have had the other sign. Bursts of one contender are not
symmetric; their effect is measured (docs/measured.md). All 2^n sign flips of whole blocks
(or some thousands of them) give the distribution of the maximum, with all dependence between pairs
and steps; 6 blocks are enough for 5 %, however many contenders there are. Contenders shown to be
worse leave the family before the others are tested (step-down, Westfall and Young 1993). A mean
over steps is at least as extreme as the least extreme of them, so a contender that is worse at
every step is worse overall too.

The interval of a contender is that of its difference to the best of the others, whichever that is
(Hsu 1984). Its width comes from sign flips of the residuals: all intervals hold simultaneously at
95 %. Step-down tests detect more than simultaneous intervals; an interval that would contradict the
decision ends at "no difference", so it excludes it exactly if the contender is shown to be worse.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special  # type: ignore[import-untyped]

from regatta.judge.interval import Interval
from regatta.judge.statistics.joint import JUST_BEYOND
from regatta.judge.statistics.sign_flips import (
    LEVEL,
    POWER,
    BlockValues,
    Floats,
    Rows,
    Ways,
    batches,
    critical,
    step_down,
    t_of,
)
from regatta.judge.statistics.units import BLOCKS, Units


@dataclass(frozen=True)
class Standing(Interval):
    """One contender against the best of the others, in one contest: its mean minus theirs. More is
    worse."""

    worse: bool
    """Whether it is shown to be worse than another."""
    p_value: float
    """Of being as good as any other, adjusted for the family."""
    blocks: int
    """Of the comparison with the best of the others."""
    detectable: float
    """The smallest `value` detectable at 80 % power."""
    score: float
    """The critical score, from which all intervals are built."""


PairDifferences = Mapping[tuple[str, str], BlockValues]
"""The first's figure minus the second's, one a unit, for figures that exist only for pairs."""
Contest = Sequence[Mapping[str, BlockValues]]
"""Figures by contender at one step, or at several steps whose mean is compared."""
References = Sequence[Container[str]]
"""For each contest, the contenders that others are compared with; empty: with all."""


def standings(
    contests: Sequence[Contest], units: Units = BLOCKS, references: References = ()
) -> list[dict[str, Standing]]:
    """For each contest, the contenders that share enough units with another."""
    return _decided([_Pairs.of(contest, units) for contest in contests], units, references)


def standings_of_pairs(
    contests: Sequence[PairDifferences], units: Units = BLOCKS, references: References = ()
) -> list[dict[str, Standing]]:
    """The same for figures that exist only for pairs."""
    return _decided([_Pairs.of_rows(contest, units) for contest in contests], units, references)


def _decided(
    pairs: list[_Pairs], units: Units, references: References
) -> list[dict[str, Standing]]:
    if references:
        pairs = [one.beside(names) for one, names in zip(pairs, references, strict=True)]
    numbers = sorted({number for contest in pairs for number in contest.numbers})
    ways = units.ways(len(numbers))
    family = _Family.of(pairs, [ways[:, np.searchsorted(numbers, one.numbers)] for one in pairs])
    return family.decide()


@dataclass(frozen=True)
class _Pairs:
    """All pairs of one contest: the first's figure minus the second's in each unit."""

    names: list[str]
    numbers: list[int]
    """Of blocks or sittings."""
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    rows: Rows
    """One a pair, for the units that both have."""
    others: NDArray[np.bool_]
    """For each name, whether others are compared with it."""

    @classmethod
    def of(cls, contest: Contest, units: Units) -> _Pairs:
        names = sorted({name for step in contest for name, values in step.items() if values})
        blocks = sorted({block for step in contest for values in step.values() for block in values})
        figures = np.array(
            [
                [[step.get(name, {}).get(block, math.nan) for block in blocks] for name in names]
                for step in contest
            ]
        ).reshape(len(contest), len(names), len(blocks))
        first, second = np.triu_indices(len(names), 1)
        # Over several steps, two are compared at the steps that both raced, in the blocks in which
        # both finished all of them: a failure at the hardest step must not look like a gain.
        raced = np.isfinite(figures).any(axis=2)
        both = raced[:, first] & raced[:, second]
        differences = figures[:, first] - figures[:, second]
        counted = np.where(both[:, :, None], differences, 0.0).sum(axis=0)
        steps = np.maximum(both.sum(axis=0), 1)
        differences = counted / steps[:, None]
        known = np.isfinite(differences) & both.any(axis=0)[:, None]
        numbers, differences = units.columns(blocks, np.where(known, differences, math.nan))
        known = np.isfinite(differences)
        enough = known.sum(axis=1) >= units.fewest
        rows = Rows(np.where(known, differences, 0.0)[enough], known[enough])
        everybody = np.ones(len(names), dtype=np.bool_)
        return cls(names, numbers, first[enough], second[enough], rows, everybody)

    @classmethod
    def of_rows(cls, contest: PairDifferences, units: Units) -> _Pairs:
        known = {pair: row for pair, row in contest.items() if len(row) >= units.fewest}
        names = sorted({name for pair in known for name in pair})
        numbers = sorted({number for row in known.values() for number in row})
        indices = np.array([[names.index(name) for name in pair] for pair in known], dtype=np.int64)
        first, second = indices.reshape(len(known), 2).T
        everybody = np.ones(len(names), dtype=np.bool_)
        return cls(names, numbers, first, second, Rows.of(list(known.values())), everybody)

    def beside(self, references: Container[str]) -> _Pairs:
        others = np.array([name in references for name in self.names], dtype=np.bool_)
        return replace(self, others=others)

    def of_name(self, at: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs in which it is the first, and those in which it is the second."""
        return (
            np.flatnonzero((self.first == at) & self.others[self.second]),
            np.flatnonzero((self.second == at) & self.others[self.first]),
        )

    def worst(self, scores: Floats) -> Floats:
        """For each name, its largest score against another; one row a sign flip."""
        found = np.full((len(scores), len(self.names)), -np.inf)
        for at in range(len(self.names)):
            first, second = self.of_name(at)
            mine = np.concatenate([scores[:, first], -scores[:, second]], axis=1)
            if mine.shape[1]:
                found[:, at] = mine.max(axis=1)
        return found

    def standing(self, at: int, score: float, worse: bool, p_value: float) -> Standing:
        mine = np.concatenate(self.of_name(at))
        sign = np.where(self.first[mine] == at, 1.0, -1.0)
        means, errors = sign * self.rows.means[mine], self.rows.errors[mine]
        free = self.rows.count[mine] - 1
        reach = t_of(score, free) * errors
        best = int(means.argmax())
        seen = reach[best] + float(special.stdtrit(free[best], POWER)) * errors[best]
        low, high = float((means - reach).max()), float((means + reach).max())
        # The interval excludes "no difference" exactly if it is shown to be worse.
        low = max(low, JUST_BEYOND) if worse else min(low, 0.0)
        return Standing(
            worse=worse,
            value=float(means[best]),
            low=low,
            high=high,
            p_value=p_value,
            blocks=int(free[best]) + 1,
            detectable=float(seen),
            score=score,
        )


@dataclass(frozen=True)
class _Family:
    """All comparable contenders in all contests."""

    pairs: list[_Pairs]
    members: list[tuple[int, int]]
    """Index of the contest and of the name in it."""
    chance: Floats
    """Worst score of each member; one row a sign flip, the first unflipped."""
    furthest: Floats
    """Largest score of the residuals over all pairs in all contests, by sign flip."""

    @classmethod
    def of(cls, pairs: list[_Pairs], ways: list[Ways]) -> _Family:
        members: list[tuple[int, int]] = []
        columns: list[Floats] = [np.zeros((len(ways[0]) if ways else 1, 0))]
        furthest = np.zeros(len(columns[0]))
        for contest, one in enumerate(pairs):
            parts = batches(ways[contest])
            worst = np.concatenate([one.worst(one.rows.scores(part)) for part in parts])
            by_noise = np.concatenate([one.rows.furthest(part) for part in parts])
            compared = np.flatnonzero(np.isfinite(worst[0]))
            members += [(contest, int(at)) for at in compared]
            columns.append(worst[:, compared])
            furthest = np.maximum(furthest, by_noise)
        return cls(pairs, members, np.concatenate(columns, axis=1), furthest)

    def decide(self) -> list[dict[str, Standing]]:
        found: list[dict[str, Standing]] = [{} for _ in self.pairs]
        ahead = self._ahead()
        reach = critical(self.furthest, LEVEL)
        p_values, shown = step_down(self.chance, LEVEL)
        for member, (contest, at) in enumerate(self.members):
            worse = bool(shown[member]) and member not in ahead
            one, p_value = self.pairs[contest], float(p_values[member])
            found[contest][one.names[at]] = one.standing(at, reach, worse, p_value)
        return found

    def _ahead(self) -> set[int]:
        """The least bad of each contest: with missing blocks, each may be worse than another."""
        least: dict[int, int] = {}
        for member, (contest, at) in enumerate(self.members):
            if not self.pairs[contest].others[at]:
                continue
            if self.chance[0, member] < self.chance[0, least.setdefault(contest, member)]:
                least[contest] = member
        return set(least.values())
