"""What the rows and the plots are of: perf's counters, and the metrics of the standings.

A sum is shown as perf prints it, of a whole trial, where whole processes were counted, and of one
request where the load alone was.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regatta.analysis.estimates import OVER, Estimate, summarize
from regatta.analysis.perf_table import CounterMeans, CounterRow
from regatta.analysis.results import CellResult
from regatta.analysis.statistics.units import Units
from regatta.ledger.cell import PROCESS
from regatta.ledger.counters import NS, SUMMED, SYSTEM_TIME, USER_TIME
from regatta.ledger.metrics import METRICS, ON_CORE, Metric, metric_named
from regatta.ledger.perf_spelling import parse_event_name
from regatta.ledger.readings import weights_of

BY_WHOM = {"perf": "", "kernel": ", by the kernel", "cpus": ", of its CPUs"}
"""Whose account a counter is of, beside perf's own."""
KERNELS_ALONE = (USER_TIME, SYSTEM_TIME)
"""What reports print of the kernel's account: all else they print is perf's."""
REQUEST = "request"
PER_REQUEST = "_per_request"


@dataclass(frozen=True)
class Quantity:
    label: str
    unit: str
    published: str
    """What claims, and so published figures, call it; empty: nobody else prints it."""
    per: str
    """`process`, or `request`; empty for what is no sum, and means the same of both."""
    read: Callable[[CellResult, str, Units], Estimate | None]
    """Of a cell and a side; None: there is nothing of the kind."""


def of_metric(metric: Metric) -> Quantity:
    def read(result: CellResult, side: str, _units: Units) -> Estimate | None:
        return result.estimates.get((side, metric.name))

    per = REQUEST if PER_REQUEST in metric.name else ""
    return Quantity(metric.label, metric.unit, metric.claimed_as, per, read)


def of_row(row: CounterRow) -> Quantity:
    """A line of perf stat. Others print what counts the kernel and all kinds of core too."""
    event = parse_event_name(row.event)
    is_whole = not event.user_only and event.pmu is None
    is_published = is_whole and (row.origin == "perf" or event.name in KERNELS_ALONE)
    published = event.name.replace("-", "_") if is_published else ""
    label = f"{row.event}{BY_WHOM.get(row.origin, '')}"

    def read(result: CellResult, side: str, units: Units) -> Estimate | None:
        found = [
            one.sides[side]
            for one in result.perf.rows
            if (one.origin, one.event) == (row.origin, row.event)
        ]
        return _estimate(found, row.unit, True, units)

    return _counter(label, row.unit, published, True, read)


def of_event(name: str, unit: str, whole: bool) -> Quantity:
    """An event of user and kernel, over all kinds of core; without perf by the kernel's account.

    `whole`: of a trial, else of a request.
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


def totals(results: Iterable[CellResult]) -> list[Quantity]:
    """Every sum that one of these cells has, in perf's order."""
    rows = {(row.origin, row.event): row for result in results for row in result.perf.rows}
    return [of_row(row) for row in rows.values() if row.unit in SUMMED]


def metrics(results: Iterable[CellResult], sides: Sequence[str], sums: bool) -> list[Quantity]:
    """All that one of these sides has, of each kind of core too; `sums`: those of a request too."""
    known = sorted({name for result in results for _, name in result.estimates})
    found: list[Quantity] = []
    for metric in METRICS:
        if set(sides) & set(metric.sides) and (sums or PER_REQUEST not in metric.name):
            found.append(of_metric(metric))
            on_a_core = f"{metric.name}{ON_CORE}"
            found += [of_metric(metric_named(name)) for name in known if name.startswith(on_a_core)]
    return found


def is_shown(figures: Sequence[Estimate | None]) -> bool:
    """Whether one of them says more than that it could not be measured."""
    return any(one is not None and (one.value is not None or one.state == OVER) for one in figures)


def _counter(
    label: str,
    unit: str,
    published: str,
    whole: bool,
    read: Callable[[CellResult, str, Units], Estimate | None],
) -> Quantity:
    if whole:
        return Quantity(label, "ms" if unit == NS else "", published, PROCESS, read)
    return Quantity(f"{label} per request", "µs" if unit == NS else "", published, REQUEST, read)


def _estimate(
    found: Sequence[CounterMeans], unit: str, whole: bool, units: Units
) -> Estimate | None:
    """Of all kinds of core, block by block, with its interval.

    perf scales the count of each kind to all of the time: then each has its share of the time.
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
