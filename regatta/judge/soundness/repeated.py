"""Which trials were disturbed and repeated, what the first attempts would have shown, and
outliers."""

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from regatta.judge.contrast import busy_by_block, usable_by_block
from regatta.judge.grouping import Members
from regatta.judge.standings import Entries, Entry, Verdict, verdicts
from regatta.judge.statistics.sign_flips import LEVEL, BlockValues
from regatta.judge.statistics.units import units_of
from regatta.record.cell import Cell
from regatta.record.metrics import PRIMARY
from regatta.record.records import OK, RaceRecord, Trial

# An outlier is beyond Tukey's outer fences, three interquartile ranges away; in logarithms if all
# values are positive, since times are skewed.

FENCE = 3.0
FEWEST = 5
"""With fewer trials none is called an outlier."""


@dataclass(frozen=True)
class Outlier:
    cell: Cell
    block: int
    metric: str
    value: float
    """Of its trial, in the metric's unit."""
    median: float
    """Of all trials of the cell."""


def outliers(cell: Cell, blocks: dict[str, BlockValues]) -> list[Outlier]:
    """The outliers of one cell in every metric, by metric and block."""
    return [
        Outlier(cell, block, metric, values[block], float(np.median(list(values.values()))))
        for metric, values in blocks.items()
        for block in outlying_blocks(values)
    ]


def outlying_blocks(values: BlockValues) -> list[int]:
    """The blocks whose value lies beyond the outer fences."""
    if len(values) < FEWEST:
        return []
    numbers = np.array(list(values.values()), dtype=np.float64)
    if numbers.min() > 0:
        numbers = np.log(numbers)
    low, high = np.quantile(numbers, [0.25, 0.75])
    reach = FENCE * (high - low)
    if reach == 0:
        return []  # half of the values are equal, so any other would be an outlier
    far = (numbers < low - reach) | (numbers > high + reach)
    return [block for block, is_far in zip(values, far, strict=True) if is_far]


# Repeating is a selection: a disturbed trial is replaced by one from a quieter moment. Trials that
# are compared are repeated together, so no contender is favoured. A permutation test within blocks
# shows whether one contender was disturbed more often than by chance.

DRAWS = 4_096


@dataclass(frozen=True)
class Hit:
    """One contender."""

    contender: str
    trials: int
    """First attempts."""
    disturbed: int
    """Disturbed first attempts."""
    by_chance: float
    """The expected number if disturbances hit the contenders of a heat at random."""
    again: int
    """Repeated trials, its own disturbed ones and those repeated with a rival's."""


@dataclass(frozen=True)
class ChangedVerdict:
    """A verdict that would differ with the first attempts instead of the last."""

    group: int
    """Index of its table."""
    now: Verdict
    then: Verdict


@dataclass(frozen=True)
class Repeated:
    hits: list[Hit] = field(default_factory=list)
    """Empty if no trial was repeated."""
    p_value: float = 1.0
    """Of the contender disturbed most in excess of chance, …"""
    furthest: str = ""
    """… in standard deviations of its own expected number."""
    changed: list[ChangedVerdict] = field(default_factory=list)

    @property
    def is_unequal(self) -> bool:
        """Whether a contender was disturbed more often than by chance."""
        return self.p_value <= LEVEL


@dataclass(frozen=True)
class StandingsTable:
    """One table: its cells, entries and verdicts."""

    members: Members
    entries: Mapping[int, Entries]
    """By step."""
    by_step: list[Verdict]
    overall: Verdict


def repeats_of(ledger: RaceRecord, tables: Sequence[StandingsTable]) -> Repeated:
    if not any(trial.superseded for trial in ledger.trials):
        return Repeated()
    hits, p_value, furthest = _hits(ledger, _heats(ledger))
    return Repeated(hits, p_value, furthest, _changed_verdicts(ledger, tables))


def _heats(ledger: RaceRecord) -> list[list[tuple[str, bool]]]:
    """The first attempts of each heat: contender, and whether it was disturbed."""
    cells = {cell.id: cell for cell in ledger.cells}
    found: dict[tuple[object, ...], list[tuple[str, bool]]] = {}
    for trial in ledger.trials:
        if trial.attempt == 1 and trial.status == OK:
            cell = cells[trial.cell_id]
            heat = found.setdefault((trial.block, cell.comparison_key()), [])
            heat.append((cell.contender, trial.disturbed is not None))
    return list(found.values())


def _hits(ledger: RaceRecord, heats: list[list[tuple[str, bool]]]) -> tuple[list[Hit], float, str]:
    order = {cell.contender: cell.contender_order for cell in ledger.cells}
    names = sorted(order, key=lambda name: (order[name], name))
    seen, chance = _counts(heats, names)
    contender_of = {cell.id: cell.contender for cell in ledger.cells}
    again = Tally(contender_of[trial.cell_id] for trial in ledger.trials if trial.superseded)
    raced = [sum(name == member for heat in heats for member, _ in heat) for name in names]
    expected = chance.mean(axis=0)
    hits = [
        Hit(name, raced[at], int(seen[at]), float(expected[at]), again[name])
        for at, name in enumerate(names)
    ]
    spread = chance.std(axis=0)
    far = np.divide(seen - expected, spread, out=np.zeros(len(names)), where=spread > 0)
    drawn = np.divide(chance - expected, spread, out=np.zeros_like(chance), where=spread > 0)
    reached = (drawn.max(axis=1, initial=0.0) >= far.max(initial=0.0) - 1e-9).sum()
    return hits, float((reached + 1) / (DRAWS + 1)), names[int(far.argmax())]


def _counts(
    heats: list[list[tuple[str, bool]]], names: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Disturbed trials of each contender, observed and in random permutations within heats."""
    chance = np.random.default_rng(len(heats))
    seen = np.zeros(len(names))
    drawn = np.zeros((DRAWS, len(names)))
    for heat in heats:
        at = [names.index(name) for name, _ in heat]
        hit = np.array([was for _, was in heat])
        np.add.at(seen, at, hit)
        if 0 < hit.sum() < len(hit):
            lots = chance.random((DRAWS, len(hit))).argsort(axis=1) < hit.sum()
        else:
            lots = np.broadcast_to(hit, (DRAWS, len(hit)))
        for member, index in enumerate(at):
            drawn[:, index] += lots[:, member]
    return seen, drawn


def _changed_verdicts(ledger: RaceRecord, tables: Sequence[StandingsTable]) -> list[ChangedVerdict]:
    first: dict[int, list[Trial]] = {}
    for trial in ledger.trials:
        if trial.attempt == 1:
            first.setdefault(trial.cell_id, []).append(replace(trial, superseded=False))
    found: list[ChangedVerdict] = []
    for number, table in enumerate(tables):
        entries: dict[int, Entries] = {
            step: {
                cell.contender: Entry(
                    usable_by_block(PRIMARY, first.get(cell.id, [])),
                    table.entries[step][cell.contender].barred,
                    busy_by_block(first.get(cell.id, [])),
                )
                for cell in table.members.at(step)
            }
            for step in table.members.steps
        }
        then = verdicts(entries, units_of(ledger))
        pairs = [*zip(table.by_step, then.by_step, strict=True)]
        if len(pairs) > 1:
            pairs.append((table.overall, then.overall))
        found += [
            ChangedVerdict(number, mine, other)
            for mine, other in pairs
            if (set(mine.best), mine.outcome) != (set(other.best), other.outcome)
        ]
    return found
