"""What could favour one contender: the clock of its CPU, and running side by side."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from regatta.judge.contrast import usable_by_block
from regatta.judge.grouping import Members
from regatta.judge.interval import Interval
from regatta.judge.statistics.joint import PairedMean, holm
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.metrics import PRIMARY
from regatta.record.records import ALONE, TIMED, RaceRecord, Trial

LEAST_PERCENT = 0.5
"""A smaller difference of clock speeds does not matter."""


def ratio_of(mean: PairedMean) -> Interval:
    """From a mean of logarithms; only the mean itself with a single block."""
    known = mean.interval() if mean.count > 1 else Interval(mean.mean, mean.mean, mean.mean)
    return known.through(math.exp)


# The clock speed of each contender relative to those it is compared with, from the canary. On a
# slower CPU every request costs more time, whatever the server. The canary's fixed instructions
# take longer too, which distinguishes a slow clock from a slow server.


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
    names = {cell.id: cell.contender for cell in ledger.cells}
    measured = [trial for trial in ledger.last_attempts if trial.conditions.get("canary_ns")]
    canary_ns = {
        (trial.cell_id, trial.block): trial.conditions["canary_ns"]
        for trial in measured
        if trial.counts and trial.kind in (TIMED, ALONE)
    }
    means = {
        name: PairedMean.of_blocks(logs) for name, logs in _relative(canary_ns, tables).items()
    }
    decided = holm([mean.p_value() for mean in means.values()])
    found = []
    for (name, mean), p_value in zip(means.items(), decided, strict=True):
        conditions = [trial.conditions for trial in measured if names[trial.cell_id] == name]
        found.append(
            ClockSpeed(
                contender=name,
                trials=len(conditions),
                low_ns=fmean(known["canary_ns"] for known in conditions),
                median_ns=fmean(known["canary_median_ns"] for known in conditions),
                clock=ratio_of(mean),
                differs=p_value <= LEVEL and abs(math.expm1(mean.mean)) * 100 >= LEAST_PERCENT,
            )
        )
    return found


def _relative(
    canary_ns: Mapping[tuple[int, int], float], tables: Sequence[Members]
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
        name: {block: fmean(parts) for block, parts in by_block.items()}
        for name, by_block in found.items()
    }


# With slices, the servers of a heat run side by side: they share caches, and a scan reads the
# processes of all of them. Blocks raced alone have one server at a time and are otherwise the same.
# Each is compared with a block beside it that no other is compared with, so that the differences
# are independent: in the first half with the block before, in the second with the block after, so
# that a drift during the race cancels out. With several sittings each is one number.


@dataclass(frozen=True)
class SideBySideCost:
    """One contender, over all of its cells."""

    contender: str
    blocks: int
    """Blocks raced alone that have a block beside them."""
    ratio: Interval
    """Server CPU per request alone, divided by that side by side."""
    beside: float
    """`ratio` relative to the mean of all contenders: the part that changes comparisons."""
    differs: bool
    """Whether `beside` differs significantly from 1 (Holm over the contenders)."""


def side_by_side_costs(ledger: RaceRecord, units: Units = BLOCKS) -> list[SideBySideCost]:
    """For each contender that was raced alone."""
    parts: dict[str, dict[int, list[float]]] = {}
    for cell in ledger.cells:
        trials = ledger.trials_of(cell)
        alone, together = (_logs(trials, kind) for kind in (ALONE, TIMED))
        for block, beside in blocks_beside(alone, together, units).items():
            by_block = parts.setdefault(cell.contender, {})
            by_block.setdefault(block, []).append(alone[block] - together[beside])
    found = {
        name: {block: fmean(logs) for block, logs in by_block.items()}
        for name, by_block in parts.items()
    }
    of_all = {
        block: fmean(logs[block] for logs in found.values() if block in logs)
        for block in {block for logs in found.values() for block in logs}
    }
    against_others = {
        name: PairedMean.of_blocks(
            units.gathered({block: log - of_all[block] for block, log in logs.items()})
        )
        for name, logs in found.items()
    }
    decided = holm([mean.p_value() for mean in against_others.values()])
    return [
        SideBySideCost(
            contender=name,
            blocks=len(logs),
            ratio=ratio_of(PairedMean.of_blocks(units.gathered(logs))),
            beside=math.exp(against_others[name].mean),
            differs=p_value <= LEVEL,
        )
        for (name, logs), p_value in zip(found.items(), decided, strict=True)
    ]


def _logs(trials: Sequence[Trial], kind: str) -> dict[int, float]:
    """Logarithms of the primary metric by block; alone trials are read like timed ones."""
    of_kind = [replace(trial, kind=TIMED) for trial in trials if trial.kind == kind]
    values = usable_by_block(PRIMARY, of_kind)
    return {at: math.log(value) for at, value in values.items() if value > 0}


def blocks_beside(
    alone: Iterable[int], together: Iterable[int], units: Units = BLOCKS
) -> dict[int, int]:
    """By block raced alone, the block of its sitting that it is compared with, if one is left."""
    found: dict[int, int] = {}
    sitting_of = units.sitting_of
    for sitting in {sitting_of.get(block) for block in alone}:
        blocks = sorted(block for block in alone if sitting_of.get(block) == sitting)
        free = {block for block in together if sitting_of.get(block) == sitting}
        for place, block in enumerate(blocks):
            if 2 * place < len(blocks):
                beside = max((at for at in free if at < block), default=None)
            else:
                beside = min((at for at in free if at > block), default=None)
            if beside is not None:
                found[block] = beside
                free.remove(beside)
    return found
