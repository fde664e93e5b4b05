"""What a design costs beyond the baseline, and in memory per idle connection."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from regatta.judge.estimates import Estimate
from regatta.judge.interval import OpenInterval
from regatta.judge.statistics.autocorrelation import reach_of
from regatta.judge.statistics.joint import AROUND, Mean, PairedMean, agreeing, decide_jointly
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.cell import Cell
from regatta.record.metrics import BY_NAME

# CPU time beyond the baseline: the difference to a contender without the overhead. The book's
# table: the CPU time of each design minus the iterative server's is what it spends on managing
# processes and threads. Differences are paired within blocks; all of them at all steps are one
# family (statistics/joint.py) with a family-wise error rate of 5 % and simultaneous intervals.


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
    found: list[tuple[str, int, BlockValues]] = []
    for step, by_contender in values.items():
        base = by_contender.get(baseline, {})
        for name, mine in by_contender.items():
            common = sorted(mine.keys() & base.keys())
            if name != baseline and common:
                less = {block: mine[block] - base[block] for block in common}
                found.append((name, step, units.gathered(less)))
    joint = decide_jointly([less for _, _, less in found], units=units)
    return [
        _difference(name, step, less, decision.sign, _reaching(less, joint.score, units))
        for (name, step, less), decision in zip(found, joint.decisions, strict=True)
    ]


def _difference(
    name: str, step: int, less: BlockValues, sign: int, reaching: tuple[float, float] | None
) -> Difference:
    low, high = (None, None) if reaching is None else agreeing(reaching, 0.0, sign)
    mean = Mean.of_blocks(less)
    return Difference(
        mean.value, low, high, contender=name, at=step, blocks=mean.count, larger=sign != AROUND
    )


def _reaching(less: BlockValues, score: float, units: Units) -> tuple[float, float] | None:
    """The ends of its interval; None with too few units for one."""
    if len(less) < units.fewest:
        return None
    mean = Mean.of_blocks(less)
    low, high = mean.interval(score)
    if units.sitting_of:
        return low, high
    # A difference in µs scales with the machine's speed, so autocorrelation of blocks matters.
    reach = reach_of(np.array([less[block] for block in sorted(less)])) or 0.0
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
    return [
        found
        for steps in _alike(cells)
        for metric in WEIGHED
        if (found := _slope(steps, metric.name, units)) is not None
    ]


def _alike(cells: Iterable[tuple[Cell, Memory]]) -> Iterable[dict[int, tuple[Cell, Memory]]]:
    """By the number of idle connections, cells that differ only in that."""
    found: dict[tuple[object, ...], dict[int, tuple[Cell, Memory]]] = {}
    for cell, memory in cells:
        if memory:
            rest = replace(cell, idle=0).identity()
            found.setdefault(rest, {})[cell.idle] = cell, memory
    return found.values()


def _slope(
    steps: dict[int, tuple[Cell, Memory]], metric: str, units: Units
) -> PerConnection | None:
    known = {step: memory[metric] for step, (_, memory) in steps.items() if metric in memory}
    if len(known) < 2:
        return None
    common = sorted(set.intersection(*(set(blocks) for blocks in known.values())))
    slopes = {
        block: float(np.polyfit(list(known), [known[step][block] for step in known], 1)[0])
        for block in common
    }
    mean = PairedMean(np.array(list(units.gathered(slopes).values())) * KIB_PER_MIB)
    if not mean.count:
        return None
    low, high = mean.interval() or (None, None)
    kib = Estimate(mean.mean, low, high, mean.count)
    return PerConnection(steps[max(known)][0], metric, kib)
