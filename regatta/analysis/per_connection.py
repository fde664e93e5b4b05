"""What an idle connection costs in memory: the slope of memory over their number.

Of races with `whole_cost`, from cells that differ in nothing else. Each block gives one slope by
least squares, so what a server needs without connections is in none, and memory that drifts over a
race cancels.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from regatta.analysis.estimates import MEASURED, Estimate
from regatta.analysis.results import CellResult
from regatta.analysis.statistics.paired_mean import PairedMean
from regatta.analysis.statistics.units import Units
from regatta.ledger.cell import Cell
from regatta.ledger.metrics import BY_NAME

WEIGHED = (BY_NAME["memory_mib"], BY_NAME["kernel_memory_mib"])
KIB_PER_MIB = 1024


@dataclass(frozen=True)
class PerConnection:
    cell: Cell
    """The one with the most idle connections."""
    metric: str
    kib: Estimate


def per_connection(results: Iterable[CellResult], units: Units) -> list[PerConnection]:
    """Of all cells of which another has fewer; empty if memory was not measured."""
    weighed = [result for result in results if result.memory]
    return [
        found
        for steps in _alike(weighed)
        for metric in WEIGHED
        if (found := _slope(steps, metric.name, units)) is not None
    ]


def _alike(results: Iterable[CellResult]) -> Iterable[dict[int, CellResult]]:
    """By the number of idle connections, cells that differ only in that."""
    found: dict[tuple[object, ...], dict[int, CellResult]] = {}
    for result in results:
        rest = replace(result.cell, idle=0).identity()
        found.setdefault(rest, {})[result.cell.idle] = result
    return found.values()


def _slope(steps: dict[int, CellResult], metric: str, units: Units) -> PerConnection | None:
    known = {step: one.memory[metric] for step, one in steps.items() if metric in one.memory}
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
    return PerConnection(steps[max(known)].cell, metric, kib)
