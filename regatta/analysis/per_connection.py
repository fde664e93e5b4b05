"""What a connection costs in memory: the slope of memory over the number of connections.

Of races with `whole_cost`. Each block gives one slope by least squares, so what a server needs
without connections is in none, and memory that drifts over a race cancels.
"""

from dataclasses import dataclass

import numpy as np

from regatta.analysis.estimates import MEASURED, Estimate
from regatta.analysis.results import CellResult, Group
from regatta.analysis.statistics.paired_mean import PairedMean
from regatta.ledger.metrics import BY_NAME

WEIGHED = (BY_NAME["memory_mib"], BY_NAME["kernel_memory_mib"])
OVER = ("idle", "connections")
"""The axes that add connections."""
KIB_PER_MIB = 1024


@dataclass(frozen=True)
class PerConnection:
    contender: str
    metric: str
    kib: Estimate


def per_connection(group: Group) -> list[PerConnection]:
    """Of each contender that has memory at two steps; empty if the axis adds no connections."""
    if group.axis.name not in OVER or len(group.steps) < 2:
        return []
    by_contender: dict[str, dict[int, CellResult]] = {}
    for step, result in group.step_cells():
        by_contender.setdefault(result.cell.contender, {})[step] = result
    return [
        found
        for contender, steps in by_contender.items()
        for metric in WEIGHED
        if (found := _slope(group, contender, metric.name, steps)) is not None
    ]


def _slope(
    group: Group, contender: str, metric: str, steps: dict[int, CellResult]
) -> PerConnection | None:
    known = {step: one.memory[metric] for step, one in steps.items() if metric in one.memory}
    if len(known) < 2:
        return None
    common = sorted(set.intersection(*(set(blocks) for blocks in known.values())))
    slopes = {
        block: float(np.polyfit(list(known), [known[step][block] for step in known], 1)[0])
        for block in common
    }
    mean = PairedMean(np.array(list(group.units.gathered(slopes).values())) * KIB_PER_MIB)
    if not mean.count:
        return None
    low, high = mean.interval() or (None, None)
    return PerConnection(contender, metric, Estimate(mean.mean, low, high, mean.count, MEASURED))
