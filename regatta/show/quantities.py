"""The quantities of tables in the form of lab reports: perf counters and the metrics of standings.

A sum is shown per trial, as perf prints it, where whole processes were counted, and per request
where only the load was.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regatta.judge.estimates import OVER, Estimate, summarize
from regatta.judge.perf_table import CounterMeans, CounterRow
from regatta.judge.results import CellResult
from regatta.judge.statistics.units import Units
from regatta.record.cell import PROCESS
from regatta.record.counters import NS, SUMMED, SYSTEM_TIME, USER_TIME, parse_event_name
from regatta.record.metrics import METRICS, ON_CORE, Metric, metric_named
from regatta.record.readings import weights_of

ORIGIN_SUFFIX = {"perf": "", "kernel": ", by the kernel", "cpus": ", of its CPUs"}
"""Marks counters that do not come from perf."""
KERNEL_ONLY = (USER_TIME, SYSTEM_TIME)
"""What published reports take from the kernel; everything else they print is from perf."""
REQUEST = "request"
PER_REQUEST = "_per_request"


@dataclass(frozen=True)
class TableQuantity:
    label: str
    unit: str
    published: str
    """Its name in claims and published figures; empty if it is never published."""
    per: str
    """`process` or `request`; empty for what is not a sum."""
    read: Callable[[CellResult, str, Units], Estimate | None]
    """The estimate for a cell and a side; None if it has no such quantity."""


def of_metric(metric: Metric) -> TableQuantity:
    def read(result: CellResult, side: str, _units: Units) -> Estimate | None:
        return result.estimates.get((side, metric.name))

    per = REQUEST if PER_REQUEST in metric.name else ""
    return TableQuantity(metric.label, metric.unit, metric.claimed_as, per, read)


def of_row(row: CounterRow) -> TableQuantity:
    """A line of perf stat. Published figures include the kernel and all kinds of core."""
    event = parse_event_name(row.event)
    is_whole = not event.user_only and event.pmu is None
    is_published = is_whole and (row.origin == "perf" or event.name in KERNEL_ONLY)
    published = event.name.replace("-", "_") if is_published else ""
    label = f"{row.event}{ORIGIN_SUFFIX.get(row.origin, '')}"

    def read(result: CellResult, side: str, units: Units) -> Estimate | None:
        found = [
            one.sides[side]
            for one in result.perf.rows
            if (one.origin, one.event) == (row.origin, row.event)
        ]
        return _estimate(found, row.unit, True, units)

    return _counter(label, row.unit, published, True, read)


def of_event(name: str, unit: str, whole: bool) -> TableQuantity:
    """An event in user and kernel mode over all kinds of core; without perf, the kernel's count.

    `whole`: per trial, else per request.
    """

    def read(result: CellResult, side: str, units: Units) -> Estimate | None:
        for origin in ("perf", "kernel"):
            found = [
                row.sides[side]
                for row in result.perf.rows
                if row.origin == origin and _is(row.event, name)
            ]
            estimate = _estimate(found, unit, whole, units)
            if estimate is not None and estimate.value is not None:
                return estimate
        return None

    return _counter(name, unit, name.replace("-", "_"), whole, read)


def _is(event: str, name: str) -> bool:
    parsed = parse_event_name(event)
    return parsed.name == name and not parsed.user_only


def totals(results: Iterable[CellResult]) -> list[TableQuantity]:
    """Every sum that any of these cells has, in perf's order."""
    rows = {(row.origin, row.event): row for result in results for row in result.perf.rows}
    return [of_row(row) for row in rows.values() if row.unit in SUMMED]


def metrics(results: Iterable[CellResult], sides: Sequence[str], sums: bool) -> list[TableQuantity]:
    """All metrics of these sides, per kind of core too; `sums`: also those per request."""
    known = sorted({name for result in results for _, name in result.estimates})
    found: list[TableQuantity] = []
    for metric in METRICS:
        if set(sides) & set(metric.sides) and (sums or PER_REQUEST not in metric.name):
            found.append(of_metric(metric))
            on_a_core = f"{metric.name}{ON_CORE}"
            found += [of_metric(metric_named(name)) for name in known if name.startswith(on_a_core)]
    return found


def is_shown(figures: Sequence[Estimate | None]) -> bool:
    """Whether any of them was measured."""
    return any(one is not None and (one.value is not None or one.state == OVER) for one in figures)


def _counter(
    label: str,
    unit: str,
    published: str,
    whole: bool,
    read: Callable[[CellResult, str, Units], Estimate | None],
) -> TableQuantity:
    if whole:
        return TableQuantity(label, "ms" if unit == NS else "", published, PROCESS, read)
    return TableQuantity(
        f"{label} per request", "µs" if unit == NS else "", published, REQUEST, read
    )


def _estimate(
    found: Sequence[CounterMeans], unit: str, whole: bool, units: Units
) -> Estimate | None:
    """Summed over kinds of core, block by block, with its interval.

    perf scales the count of each kind to the whole time, so each is weighted by its running time.
    """
    if not found:
        return None
    factor = 1.0 if unit != NS else 1e-6 if whole else 1e-3
    sums: dict[int, float] = {}
    weights = weights_of([one.running_percent or 0.0 for one in found])
    if not any(weights):
        weights = [1.0] * len(found)
    for one, weight in zip(found, weights, strict=True):
        for block, value in (one.totals if whole else one.shares).items():
            sums[block] = sums.get(block, 0.0) + value * factor * weight
    blocks = sorted(sums)
    return summarize([sums[block] for block in blocks], found[0].state, blocks, units)
