"""The clock speed of each contender relative to those it is compared with, by the canary.

A slower CPU makes every request cost more time, whatever serves it. The canary's fixed instructions
take longer then too, which tells a slow clock from a slow server.
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
"""A smaller difference of clocks moves no figure that is read."""


@dataclass(frozen=True)
class Ran:
    """One contender, over all steps and tables."""

    contender: str
    trials: int
    low_ns: float
    """What the fixed instructions took when nothing came between."""
    median_ns: float
    """What they took in the middle of nine times: more where interrupts came."""
    clock: float
    """By the mean of those that it is compared with, itself included, within blocks."""
    low: float
    high: float
    differs: bool
    """Beyond the noise (Holm over the contenders), and by enough to be seen in a figure."""


def clocks(ledger: RaceRecord, tables: Sequence[Members]) -> list[Ran]:
    """Of the trials that times are taken from; empty where no canary ran."""
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
        _ran(ledger, name, one, decision.rejected)
        for (name, one), decision in zip(shown.items(), decided, strict=True)
    ]


def _relative(
    canary_ns: dict[tuple[int, int], float], tables: Sequence[Members]
) -> dict[str, dict[int, float]]:
    """By contender and block the logarithm of its clock by that of its heat."""
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


def _ran(ledger: RaceRecord, name: str, one: PairedMean, shown: bool) -> Ran:
    cells = {cell.id for cell in ledger.cells if cell.contender == name}
    conditions = [
        trial.conditions
        for trial in ledger.last_attempts
        if trial.cell_id in cells and trial.conditions.get("canary_ns")
    ]
    low, high = one.interval() or (one.mean, one.mean)
    return Ran(
        contender=name,
        trials=len(conditions),
        low_ns=fmean(one_trial["canary_ns"] for one_trial in conditions),
        median_ns=fmean(one_trial["canary_median_ns"] for one_trial in conditions),
        clock=math.exp(one.mean),
        low=math.exp(low),
        high=math.exp(high),
        differs=shown and abs(math.expm1(one.mean)) * 100 >= LEAST_PERCENT,
    )
