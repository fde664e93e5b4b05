"""What could favour one contender: the clock of its CPU, and running side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.judge.contrast import usable_by_block
from regatta.judge.grouping import Members
from regatta.judge.interval import Interval
from regatta.judge.statistics.joint import PairedMean, holm
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.metrics import PRIMARY
from regatta.record.records import ALONE, COUNTED_TRIAL, TIMED, RaceRecord, Trial

# The mean of differences to neighbours, some of which are shared. Each block raced alone is
# compared with the blocks before and after it, so two of them may share a neighbour, whose noise is
# then in both differences. Treating them as independent gives false alarms in 8 to 11 % instead of
# 5 % for ten in a row. Their correlation follows from the shared neighbours, so the mean is
# estimated by generalised least squares; Student's t is exact for normal noise of equal variance.


@dataclass(frozen=True)
class BlockDifference:
    """One block minus the mean of its neighbours."""

    value: float
    weights: Mapping[int, float]
    """Weight of each neighbour; they add up to 1."""

    @classmethod
    def mean_of(cls, parts: Sequence[BlockDifference]) -> BlockDifference:
        """Over several cells of one block."""
        weights: dict[int, float] = {}
        for part in parts:
            for at, weight in part.weights.items():
                weights[at] = weights.get(at, 0.0) + weight / len(parts)
        return cls(fmean(part.value for part in parts), weights)


@dataclass(frozen=True)
class CorrelatedMean:
    mean: float
    error: float
    """Standard error; 0 if all are equal or there is only one."""
    count: int

    def p_value(self) -> float:
        """Two-sided, of the hypothesis that it is 0."""
        if self.count < 2:
            return 1.0
        if self.error == 0:
            return 1.0 if self.mean == 0 else 0.0
        return float(2 * special.stdtr(self.count - 1, -abs(self.mean) / self.error))

    def interval(self) -> tuple[float, float]:
        """At 95 %; only the mean itself with one block."""
        if self.count < 2:
            return self.mean, self.mean
        reach = float(special.stdtrit(self.count - 1, 1 - LEVEL / 2)) * self.error
        return self.mean - reach, self.mean + reach


def linked(blocks: Mapping[int, BlockDifference], units: Units) -> CorrelatedMean:
    """Over all blocks; with several sittings over one number each, which are independent."""
    values = np.array([one.value for one in blocks.values()])
    if units.sitting_of:
        gathered = units.gathered({block: one.value for block, one in blocks.items()})
        values = np.array(list(gathered.values()))
        covariance = np.eye(len(values))
    else:
        near = sorted({at for one in blocks.values() for at in one.weights})
        neighbour_weights = np.array(
            [[one.weights.get(at, 0.0) for at in near] for one in blocks.values()]
        )
        covariance = np.eye(len(values)) + neighbour_weights @ neighbour_weights.T
    count = len(values)
    weights = np.linalg.solve(covariance, np.ones(count))
    mean = float(weights @ values / weights.sum())
    if count < 2:
        return CorrelatedMean(mean, 0.0, count)
    left = values - mean
    variance = float(left @ np.linalg.solve(covariance, left)) / (count - 1)
    rounding = 1e-24 * max(mean * mean, 1e-300)
    error = 0.0 if variance <= rounding else math.sqrt(variance / float(weights.sum()))
    return CorrelatedMean(mean, error, count)


# The clock speed of each contender relative to those it is compared with, from the canary. On a
# slower CPU every request costs more time, whatever the server. The canary's fixed instructions
# take longer too, which distinguishes a slow clock from a slow server.

LEAST_PERCENT = 0.5
"""A smaller difference of clock speeds does not matter."""


@dataclass(frozen=True)
class ClockSpeed:
    """One contender, over all steps and tables."""

    contender: str
    trials: int
    low_ns: float
    """Shortest time of the fixed instructions."""
    median_ns: float
    """Median of nine times: longer if there were interrupts."""
    clock: Interval
    """Relative to the mean of the contenders compared within blocks, itself included."""
    differs: bool
    """Significantly (Holm over the contenders), and by at least LEAST_PERCENT."""


def clocks(ledger: RaceRecord, tables: Sequence[Members]) -> list[ClockSpeed]:
    """From timed trials; empty without a canary."""
    canary_ns = {
        (trial.cell_id, trial.block): trial.conditions["canary_ns"]
        for trial in ledger.last_attempts
        if trial.counts and trial.kind != COUNTED_TRIAL and trial.conditions.get("canary_ns")
    }
    relative = _relative(canary_ns, tables)
    shown = {
        name: PairedMean(np.array(list(by_block.values()))) for name, by_block in relative.items()
    }
    decided = holm([one.p_value() for one in shown.values()])
    return [
        _clock_speed(ledger, name, one, decision.rejected)
        for (name, one), decision in zip(shown.items(), decided, strict=True)
    ]


def _relative(
    canary_ns: dict[tuple[int, int], float], tables: Sequence[Members]
) -> dict[str, dict[int, float]]:
    """By contender and block, the logarithm of its clock speed relative to its heat's mean."""
    found: dict[str, dict[int, list[float]]] = {}
    blocks = sorted({block for _, block in canary_ns})
    for cells in (members.at(step) for members in tables for step in members.steps):
        for block in blocks:
            heat = {
                cell.contender: math.log(canary_ns[cell.id, block])
                for cell in cells
                if (cell.id, block) in canary_ns
            }
            if len(heat) > 1:
                mean = fmean(heat.values())
                for name, log_ns in heat.items():
                    found.setdefault(name, {}).setdefault(block, []).append(mean - log_ns)
    return {
        name: {block: fmean(parts) for block, parts in blocks_of.items()}
        for name, blocks_of in found.items()
    }


def _clock_speed(ledger: RaceRecord, name: str, one: PairedMean, shown: bool) -> ClockSpeed:
    cells = {cell.id for cell in ledger.cells if cell.contender == name}
    conditions = [
        trial.conditions
        for trial in ledger.last_attempts
        if trial.cell_id in cells and trial.conditions.get("canary_ns")
    ]
    return ClockSpeed(
        contender=name,
        trials=len(conditions),
        low_ns=fmean(one_trial["canary_ns"] for one_trial in conditions),
        median_ns=fmean(one_trial["canary_median_ns"] for one_trial in conditions),
        clock=Interval(one.mean, *(one.interval() or (one.mean, one.mean))).through(math.exp),
        differs=shown and abs(math.expm1(one.mean)) * 100 >= LEAST_PERCENT,
    )


# With slices, the servers of a heat run side by side: they share caches, and a scan reads the
# processes of all of them. Blocks raced alone have one server at a time and are otherwise the same.
# Each is compared with the blocks just before and after it; two that share such a neighbour are not
# independent (soundness/clock.py). With several sittings each is one number.


@dataclass(frozen=True)
class SideBySideCost:
    """One contender, over all of its cells."""

    contender: str
    blocks: int
    """Blocks raced alone that have neighbours."""
    ratio: Interval
    """Server CPU per request alone, divided by that side by side."""
    beside: float
    """`ratio` relative to the mean of all contenders: the part that changes comparisons."""
    differs: bool
    """Whether `beside` differs significantly from 1 (Holm over the contenders)."""


def side_by_side_costs(ledger: RaceRecord, units: Units = BLOCKS) -> list[SideBySideCost]:
    """For each contender that was raced alone."""
    found = {
        name: differences
        for name in dict.fromkeys(cell.contender for cell in ledger.cells)
        if (differences := _by_block(ledger, name, units))
    }
    against_others = {name: linked(_less_the_mean(found, name), units) for name in found}
    decided = holm([one.p_value() for one in against_others.values()])
    return [
        _company(
            name, differences, linked(differences, units), against_others[name], decision.rejected
        )
        for (name, differences), decision in zip(found.items(), decided, strict=True)
    ]


def _by_block(ledger: RaceRecord, name: str, units: Units) -> dict[int, BlockDifference]:
    """For each block raced alone, the logarithm of its cost relative to its neighbours."""
    found: dict[int, list[BlockDifference]] = {}
    for cell in ledger.cells:
        if cell.contender == name:
            trials = ledger.trials_of(cell)
            alone, together = _figures(trials, ALONE), _figures(trials, TIMED)
            for block, value in alone.items():
                near = _neighbours(block, together, units)
                if near:
                    against = fmean(math.log(together[at]) for at in near)
                    weights = dict.fromkeys(near, 1 / len(near))
                    found.setdefault(block, []).append(
                        BlockDifference(math.log(value) - against, weights)
                    )
    return {block: BlockDifference.mean_of(parts) for block, parts in sorted(found.items())}


def _figures(trials: Sequence[Trial], kind: str) -> dict[int, float]:
    """The primary metric by block; alone trials are read like timed ones."""
    of_kind = [replace(trial, kind=TIMED) for trial in trials if trial.kind == kind]
    return {at: value for at, value in usable_by_block(PRIMARY, of_kind).items() if value > 0}


def _neighbours(block: int, together: Iterable[int], units: Units) -> list[int]:
    """The blocks before and after it in its sitting, as far as they exist."""
    sitting = units.sitting_of.get(block)
    same = [at for at in together if units.sitting_of.get(at) == sitting]
    before = max((at for at in same if at < block), default=None)
    after = min((at for at in same if at > block), default=None)
    return [at for at in (before, after) if at is not None]


def _less_the_mean(
    found: Mapping[str, Mapping[int, BlockDifference]], name: str
) -> dict[int, BlockDifference]:
    """Its differences minus the mean of all contenders in the same block."""
    means = {
        block: fmean(other[block].value for other in found.values() if block in other)
        for block in found[name]
    }
    return {
        block: replace(one, value=one.value - means[block]) for block, one in found[name].items()
    }


def _company(
    name: str,
    differences: Mapping[int, BlockDifference],
    alone: CorrelatedMean,
    against_others: CorrelatedMean,
    differs: bool,
) -> SideBySideCost:
    return SideBySideCost(
        contender=name,
        blocks=len(differences),
        ratio=Interval(alone.mean, *alone.interval()).through(math.exp),
        beside=math.exp(against_others.mean),
        differs=differs,
    )
