"""What an idle connection costs in memory, as a table and as plain data."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from regatta.analysis.per_connection import WEIGHED, PerConnection
from regatta.analysis.results import Analysis, Group
from regatta.report.text.numbers import interval_of, value_of
from regatta.report.text.table import Table

KERNEL = WEIGHED[1].name
SAYS = (
    "KiB per idle connection: the slope of memory over their number, with its 95 % interval. "
    "The first column is what the server's processes hold, the second what the kernel holds for "
    "them."
)
NO_KERNEL = " The kernel's part is not supported here: it needs root and the memory controller."


def per_connection_table(analysis: Analysis, group: Group, step: int) -> Table | None:
    """With the cells that have the most idle connections; None where memory was not measured."""
    here = [result.cell for result in group.at(step)]
    found = [one for one in analysis.memory_per_connection if one.cell in here]
    if not found:
        return None
    names = list(dict.fromkeys(one.cell.contender for one in found))
    rows = [[name, *(_figure(found, name, metric.name) for metric in WEIGHED)] for name in names]
    says = SAYS if any(one.metric == KERNEL for one in found) else SAYS + NO_KERNEL
    return Table("Memory per idle connection", says, ["contender", "processes", "kernel"], rows)


def _figure(found: Sequence[PerConnection], contender: str, metric: str) -> str:
    for one in found:
        if (one.cell.contender, one.metric) == (contender, metric):
            return f"{value_of(one.kib)}\n{interval_of(one.kib)}".strip()
    return "–"


def per_connection_json(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "cell": one.cell.label(),
            "contender": one.cell.contender,
            "metric": one.metric,
            "kib": asdict(one.kib),
        }
        for one in analysis.memory_per_connection
    ]
