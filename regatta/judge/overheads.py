"""What a design costs beyond the baseline, and in memory per idle connection."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from regatta.judge.estimates import Estimate
from regatta.judge.interval import OpenInterval
from regatta.judge.statistics.autocorrelation import reach_of
from regatta.judge.statistics.joint import AROUND, Ends, Mean, PairedMean, agreeing, decide_jointly
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.cell import Cell
from regatta.record.metrics import BY_NAME

# The book's table: the CPU time of each design minus the iterative server's is what it spends on
# managing processes and threads. Differences are paired within blocks; all of them at all steps are
# one family (statistics/joint.py) with a family-wise error rate of 5 % and simultaneous intervals.


@dataclass(frozen=True, kw_only=True)
class Difference(OpenInterval):
    """In µs per request; without an interval with too few shared blocks."""

    contender: str
    at: int
    """The step of the axis."""
    blocks: int
    larger: bool
    """Whether it is distinguishable from 0."""


def differences(
    values: dict[int, dict[str, BlockValues]], baseline: str, units: Units = BLOCKS
) -> list[Difference]:
    """One for each step and contender that shares a block with the baseline."""
    found: dict[tuple[str, int], BlockValues] = {}
    for step, by_contender in values.items():
        base = by_contender.get(baseline, {})
        for name, mine in by_contender.items():
            common = sorted(mine.keys() & base.keys())
            if name != baseline and common:
                found[name, step] = units.gathered(
                    {block: mine[block] - base[block] for block in common}
                )
    joint = decide_jointly(list(found.values()), units=units)
    return [
        Difference(
            Mean.of_blocks(less).value,
            *agreeing(_ends(less, joint.score, units), 0.0, decision.sign),
            contender=name,
            at=step,
            blocks=len(less),
            larger=decision.sign != AROUND,
        )
        for ((name, step), less), decision in zip(found.items(), joint.decisions, strict=True)
    ]


def _ends(less: BlockValues, score: float, units: Units) -> Ends:
    """Of its interval; unknown with too few units for one."""
    if len(less) < units.fewest:
        return None, None
    mean = Mean.of_blocks(less)
    low, high = mean.interval(score)
    if units.sitting_of:
        return low, high
    # A difference in µs scales with the machine's speed, so autocorrelation of blocks matters.
    reach = reach_of(np.array(list(less.values()))) or 0.0
    return min(low, mean.value - reach), max(high, mean.value + reach)


# What an idle connection costs in memory: the slope of memory over their number. Of races with
# `whole_cost`, from cells that differ in nothing else. Each block gives one slope by least squares,
# so what a server needs without connections is in none, and memory that drifts over a race cancels.

WEIGHED = (BY_NAME["memory_mib"], BY_NAME["kernel_memory_mib"])
KIB_PER_MIB = 1024
Memory = Mapping[str, BlockValues]
"""One number a block by metric, of one cell."""


@dataclass(frozen=True)
class PerConnection:
    cell: Cell
    """The one with the most idle connections."""
    metric: str
    kib: Estimate


def per_connection(cells: Iterable[tuple[Cell, Memory]], units: Units) -> list[PerConnection]:
    """Of all cells of which another has fewer; empty if memory was not measured."""
    alike: dict[tuple[object, ...], dict[int, tuple[Cell, Memory]]] = {}
    for cell, memory in cells:
        if memory:
            rest = replace(cell, idle=0).identity()
            alike.setdefault(rest, {})[cell.idle] = cell, memory
    found = []
    for steps in alike.values():
        for metric in WEIGHED:
            known = {
                idle: memory[metric.name]
                for idle, (_, memory) in steps.items()
                if metric.name in memory
            }
            if len(known) > 1 and (kib := _slope(known, units)):
                found.append(PerConnection(steps[max(known)][0], metric.name, kib))
    return found


def _slope(known: Mapping[int, BlockValues], units: Units) -> Estimate | None:
    """In KiB an idle connection, of the blocks in which all steps are known."""
    slopes = {
        block: float(np.polyfit(list(known), [known[step][block] for step in known], 1)[0])
        for block in sorted(set.intersection(*map(set, known.values())))
    }
    if not slopes:
        return None
    kib = PairedMean(np.array(list(units.gathered(slopes).values())) * KIB_PER_MIB)
    ends = kib.interval() if kib.count > 1 else OpenInterval(kib.mean)
    return Estimate(**vars(ends), trials=kib.count)
