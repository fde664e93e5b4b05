"""What an idle connection costs in memory: the slope of memory over their number.

Of races with `whole_cost`, from cells that differ in nothing else. Each block gives one slope by
least squares, so what a server needs without connections is in none, and memory that drifts over a
race cancels.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from regatta.analysis.estimates import MEASURED, Estimate
from regatta.analysis.statistics.paired_mean import PairedMean
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.units import Units
from regatta.ledger.cell import Cell
from regatta.ledger.metrics import BY_NAME

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
    kib = Estimate(mean.mean, low, high, mean.count, MEASURED)
    return PerConnection(steps[max(known)][0], metric, kib)
