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

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

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
"""The first's figure minus the second's, one a unit."""
Contest = Sequence[Mapping[str, BlockValues]]
"""Figures by contender at one step, or at several steps whose mean is compared."""
References = Sequence[Container[str]]
"""For each contest, the contenders that others are compared with; empty: with all."""


def standings(
    contests: Sequence[Contest], units: Units = BLOCKS, references: References = ()
) -> list[dict[str, Standing]]:
    """For each contest, the contenders that share enough units with another."""
    pairs = [pair_differences(contest, units) for contest in contests]
    return standings_of_pairs(pairs, units, references)


def pair_differences(contest: Contest, units: Units) -> PairDifferences:
    """Of all pairs that share a step.

    Over several steps, two are compared at the steps that both raced, in the blocks in which both
    finished all of them: a failure at the hardest step must not look like a gain.
    """
    names = sorted({name for step in contest for name, values in step.items() if values})
    found = {}
    for first, second in combinations(names, 2):
        steps = [
            (step[first], step[second]) for step in contest if step.get(first) and step.get(second)
        ]
        if steps:
            common = set.intersection(*(mine.keys() & theirs.keys() for mine, theirs in steps))
            differences = {
                block: sum(mine[block] - theirs[block] for mine, theirs in steps) / len(steps)
                for block in sorted(common)
            }
            found[first, second] = units.gathered(differences)
    return found


def standings_of_pairs(
    contests: Sequence[PairDifferences], units: Units = BLOCKS, references: References = ()
) -> list[dict[str, Standing]]:
    """The same for figures that exist only for pairs."""
    pairs = [
        _Pairs.of(contest, units, references[at] if references else None)
        for at, contest in enumerate(contests)
    ]
    numbers = sorted({number for contest in pairs for number in contest.numbers})
    ways = units.ways(len(numbers))
    furthest = np.zeros(len(ways))
    members: list[tuple[int, int]] = []
    columns: list[Floats] = [np.zeros((len(ways), 0))]
    for at, contest in enumerate(pairs):
        parts = batches(ways[:, np.searchsorted(numbers, contest.numbers)])
        worst = np.concatenate([contest.worst(contest.rows.scores(part)) for part in parts])
        residual = np.concatenate([contest.rows.furthest(part) for part in parts])
        furthest = np.maximum(furthest, residual)
        compared = np.flatnonzero(np.isfinite(worst[0]))
        members += [(at, int(name)) for name in compared]
        columns.append(worst[:, compared])
    chance = np.concatenate(columns, axis=1)
    score = critical(furthest, LEVEL)
    p_values, shown = step_down(chance, LEVEL)
    # With missing blocks, each of a contest may be worse than another: not so the least bad.
    ahead: dict[int, int] = {}
    for member, (at, name) in enumerate(members):
        least = ahead.setdefault(at, member) if pairs[at].is_reference[name] else member
        if chance[0, member] < chance[0, least]:
            ahead[at] = member
    found: list[dict[str, Standing]] = [{} for _ in pairs]
    for member, (at, name) in enumerate(members):
        worse = bool(shown[member]) and member != ahead.get(at)
        standing = pairs[at].standing(name, score, worse, float(p_values[member]))
        found[at][pairs[at].names[name]] = standing
    return found


@dataclass(frozen=True)
class _Pairs:
    """The pairs of one contest that share enough units."""

    names: list[str]
    numbers: list[int]
    """Of blocks or sittings."""
    rows: Rows
    """One a pair: the first's figure minus the second's."""
    is_reference: list[bool]
    """For each name, whether others are compared with it."""
    against: list[tuple[NDArray[np.int64], Floats]]
    """For each name, the rows that compare it with a reference, and their signs."""

    @classmethod
    def of(
        cls, contest: PairDifferences, units: Units, references: Container[str] | None
    ) -> "_Pairs":
        known = {pair: row for pair, row in contest.items() if len(row) >= units.fewest}
        names = sorted({name for pair in known for name in pair})
        against = []
        for name in names:
            signs = {
                at: 1.0 if name == first else -1.0
                for at, (first, second) in enumerate(known)
                if name in (first, second)
                if references is None or (second if name == first else first) in references
            }
            against.append((np.array(list(signs), dtype=np.int64), np.array(list(signs.values()))))
        return cls(
            names,
            sorted({number for row in known.values() for number in row}),
            Rows.of(list(known.values())),
            [references is None or name in references for name in names],
            against,
        )

    def worst(self, scores: Floats) -> Floats:
        """For each name, its largest score against a reference; one row a sign flip."""
        found = np.full((len(scores), len(self.names)), -np.inf)
        for at, (rows, signs) in enumerate(self.against):
            if len(rows):
                found[:, at] = (scores[:, rows] * signs).max(axis=1)
        return found

    def standing(self, at: int, score: float, worse: bool, p_value: float) -> Standing:
        rows, signs = self.against[at]
        means, errors = signs * self.rows.means[rows], self.rows.errors[rows]
        free = self.rows.count[rows] - 1
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
