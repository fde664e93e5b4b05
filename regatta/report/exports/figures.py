"""What is exported: the estimates of each contender under each load, by names that stay the same.

A history compares figures of the same name. So a name holds what the study says, and no rate that a
matched load found on this day.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from regatta.analysis.estimates import Estimate
from regatta.analysis.results import Analysis, CellResult
from regatta.ledger.cell import CONTENDER_FIELDS, IDENTITY, Cell
from regatta.ledger.metrics import BY_NAME, P50, P99, PRIMARY, Metric, side_of

EXPORTED = (PRIMARY, P50, P99, BY_NAME["peak_memory_mib"])
"""Of all, less is better."""
RATE = "rate"


@dataclass(frozen=True)
class Figure:
    """One metric of one contender under one load."""

    contender: str
    load: dict[str, str]
    """Connections, and whatever else differs between the loads of the race."""
    metric: Metric
    estimate: Estimate
    value: float

    @property
    def benchmark(self) -> str:
        return ", ".join([self.contender, *(f"{name} {text}" for name, text in self.load.items())])

    @property
    def path(self) -> str:
        """Benchmark and metric as one word: head/connections-50/latency_p50_ms."""
        loads = (f"{name}-{text}" for name, text in self.load.items())
        return "/".join(map(_word, [self.contender, *loads, self.metric.name]))


def figures(analysis: Analysis) -> Iterator[Figure]:
    """Those that were measured, contenders in the order of the tables."""
    results = _results(analysis)
    loads = _loads(analysis, [result.cell for result in results])
    for result in results:
        for metric in EXPORTED:
            estimate = result.estimates[side_of(metric), metric.name]
            if estimate.value is not None:
                load = loads[result.cell.id]
                yield Figure(result.cell.contender, load, metric, estimate, estimate.value)


def _results(analysis: Analysis) -> list[CellResult]:
    """Each cell once; a design without a pool is in the table of each pool size."""
    cells = {one.cell.id: one for group in analysis.groups for one in group.cells}
    return list(cells.values())


def _loads(analysis: Analysis, cells: list[Cell]) -> dict[int, dict[str, str]]:
    """The load of each cell, by cell id."""
    names = [name for name in IDENTITY if _differs(cells, name)]
    found: dict[int, dict[str, str]] = {}
    for cell in cells:
        load = {name: str(getattr(cell, name)) for name in names if getattr(cell, name) is not None}
        if RATE in load and analysis.held:
            load[RATE] = _rank(cell, cells)
        found[cell.id] = {"connections": str(cell.connections), **load}
    return found


def _differs(cells: list[Cell], name: str) -> bool:
    """Whether it tells apart cells of one contender with equal connections. Pool sizes do; rounds
    follow from the connections."""
    if name == "connections" or (name in CONTENDER_FIELDS and name != "workers"):
        return False
    return any(
        getattr(one, name) != getattr(other, name)
        for one in cells
        for other in cells
        if (one.contender, one.connections) == (other.contender, other.connections)
    )


def _rank(cell: Cell, cells: list[Cell]) -> str:
    """`1 of 3` of the rates of a matched load, which differ from race to race."""
    rates = sorted(
        {
            one.rate
            for one in cells
            if one.rate is not None
            and (one.contender, one.connections) == (cell.contender, cell.connections)
        }
    )
    return f"{rates.index(cell.rate) + 1} of {len(rates)}" if cell.rate in rates else "1 of 1"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._=+-]+", "-", text).strip("-") or "-"
