"""The clock speed of each contender relative to those it is compared with, from the canary.

On a slower CPU every request costs more time, whatever the server. The canary's fixed instructions
take longer too, which distinguishes a slow clock from a slow server.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from regatta.analysis.grouping import Members
from regatta.analysis.statistics.holm import holm
from regatta.analysis.statistics.paired_mean import PairedMean
from regatta.ledger.planned import COUNTED_TRIAL
from regatta.ledger.records import RaceRecord

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
    clock: float
    """Relative to the mean of the contenders compared within blocks, itself included."""
    low: float
    high: float
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
    low, high = one.interval() or (one.mean, one.mean)
    return ClockSpeed(
        contender=name,
        trials=len(conditions),
        low_ns=fmean(one_trial["canary_ns"] for one_trial in conditions),
        median_ns=fmean(one_trial["canary_median_ns"] for one_trial in conditions),
        clock=math.exp(one.mean),
        low=math.exp(low),
        high=math.exp(high),
        differs=shown and abs(math.expm1(one.mean)) * 100 >= LEAST_PERCENT,
    )
