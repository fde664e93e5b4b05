"""The plots of lab reports: the clocks, switches beside speed, and the cache, over the axis."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regatta.ledger.counters import COUNT, NS
from regatta.ledger.metrics import BY_NAME
from regatta.ledger.result import SERVER
from regatta.report.charts.parts import DRAWN, Rows, chart_row
from regatta.report.charts.with_published import bars_beside, lines_beside
from regatta.report.paper.elements import Plot, PlotPanel, file_name
from regatta.report.paper.groups import PaperGroup
from regatta.report.paper.published import Published, as_estimate, beside
from regatta.report.paper.quantities import Quantity, of_event, of_metric
from regatta.report.text.numbers import capitalized

INTERVALS = "Server side, with 95 % intervals."
HOLLOW = "Hollow points: published, from other machines: {}."


@dataclass(frozen=True)
class PlotKind:
    name: str
    title: str
    events: tuple[tuple[str, str], ...]
    """With their units."""
    metrics: tuple[str, ...]
    draw: Callable[..., dict[str, Any]]


KINDS = (
    PlotKind(
        "clocks",
        "CPU-clock and task-clock",
        (("cpu-clock", NS), ("task-clock", NS)),
        (),
        bars_beside,
    ),
    PlotKind(
        "switches",
        "Context switches, the clock and instructions per cycle",
        (("context-switches", COUNT),),
        ("clock_ghz", "instructions_per_cycle"),
        lines_beside,
    ),
    PlotKind(
        "cache",
        "Cache references and misses",
        (("cache-references", COUNT), ("cache-misses", COUNT)),
        (),
        lines_beside,
    ),
)


def plots(of: PaperGroup) -> tuple[Plot, ...]:
    """The plots with at least one measured panel."""
    found = (_plot(of, kind) for kind in KINDS)
    return tuple(plot for plot in found if plot is not None)


def _plot(of: PaperGroup, kind: PlotKind) -> Plot | None:
    quantities = [of_event(name, unit, of.is_whole) for name, unit in kind.events]
    quantities += [of_metric(BY_NAME[name]) for name in kind.metrics]
    panels: list[PlotPanel] = []
    sources: dict[str, None] = {}
    for quantity in quantities:
        rows = _rows(of, quantity)
        if not rows:
            continue
        theirs = [
            _hollow(one, value, quantity)
            for one, value in beside(of.known, of.group, quantity, SERVER)
        ]
        sources |= dict.fromkeys(str(row["source"]) for row in theirs)
        spec = kind.draw(of.analysis, of.group.axis, quantity, rows, theirs)
        panels.append(PlotPanel(quantity.label, quantity.unit, spec))
    if not panels:
        return None
    says = f"{INTERVALS} {HOLLOW.format('; '.join(sources))}" if sources else INTERVALS
    drawn = kind.title
    if len(panels) < len(quantities):
        drawn = capitalized(" and ".join(panel.label for panel in panels))
    title = f"{drawn} against the {of.group.axis.quantity}{of.where}"
    return Plot(file_name(of.number, kind.name), title, says, tuple(panels))


def _rows(of: PaperGroup, quantity: Quantity) -> Rows:
    found = (
        (step, result, quantity.read(result, SERVER, of.group.units))
        for step, result in of.group.step_cells()
    )
    return [
        chart_row(result.cell.contender, step, estimate, quantity)
        for step, result, estimate in found
        if estimate is not None and estimate.state in DRAWN
    ]


def _hollow(one: Published, value: float, quantity: Quantity) -> dict[str, Any]:
    row = chart_row(one.design, one.connections, as_estimate(value), quantity)
    return {**row, "source": one.source}
