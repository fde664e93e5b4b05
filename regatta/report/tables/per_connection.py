"""What a connection costs in memory, as a table."""

from collections.abc import Sequence

from regatta.analysis.per_connection import WEIGHED, PerConnection, per_connection
from regatta.analysis.results import Group
from regatta.report.text.numbers import interval_of, value_of
from regatta.report.text.table import Table

KERNEL = WEIGHED[1].name
SAYS = (
    "KiB per connection: the slope of memory over the connections, with its 95 % interval. The "
    "first column is what its processes hold, the second what the kernel holds for them."
)
NO_KERNEL = " The kernel's part is not supported here: it needs root and the memory controller."


def per_connection_table(group: Group, step: int) -> Table | None:
    """With the last step; None where memory was not measured."""
    found = per_connection(group) if step == group.steps[-1] else []
    if not found:
        return None
    names = list(dict.fromkeys(one.contender for one in found))
    rows = [[name, *(_figure(found, name, metric.name) for metric in WEIGHED)] for name in names]
    says = SAYS if any(one.metric == KERNEL for one in found) else SAYS + NO_KERNEL
    return Table("Memory per connection", says, ["contender", "processes", "kernel"], rows)


def _figure(found: Sequence[PerConnection], contender: str, metric: str) -> str:
    for one in found:
        if (one.contender, one.metric) == (contender, metric):
            return f"{value_of(one.kib)}\n{interval_of(one.kib)}".strip()
    return "–"
