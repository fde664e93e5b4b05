"""Tables and plots in the form of lab reports: metric × (server, client), metric × design, and
clocks, switches and cache over the axis, each beside the figures that the study's sources have.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from regatta.judge.estimates import DRAWN, MEASURED, Estimate
from regatta.judge.perf_table import CounterRow
from regatta.judge.results import Analysis, CellResult, Group
from regatta.judge.statistics.units import Units
from regatta.record.cell import AXES, PROCESS
from regatta.record.counters import COUNT, NS
from regatta.record.inputs import OVER_ITERATIVE
from regatta.record.metrics import BY_NAME, SIDES
from regatta.record.records import COUNTED_TRIAL, SERVER, TIMED
from regatta.show.charts import bars_beside, chart_row, lines_beside
from regatta.show.claim_words import published_value
from regatta.show.numbers import DASH, around, capitalized, plural
from regatta.show.quantities import (
    TableQuantity,
    is_shown,
    metrics,
    of_event,
    of_metric,
    of_row,
    totals,
)
from regatta.show.view import APPENDIX, Chart, Figure, Heading, Panel, Row, Section, Table

INTERVALS = "± is the distance to the farther end of the 95 % interval."
WHOLE = "Whole processes, start to exit, as perf stat counts them."
WINDOW = "The load alone."
PUBLISHED = "Published figures are from other machines: {}."
HOLLOW = "Hollow points: published, from other machines: {}."
WHOLE_TIME = 99.5
"""Per cent, from which on a counter is said to have run all the time."""
IN_THAT = {("s", "ms"): 1e3, ("ms", "s"): 1e-3}
"""From one unit to another."""


def reports_section(analysis: Analysis, group: Group, prefix: str) -> list[Section]:
    """Empty where no counter and no metric has a figure."""
    known = published(analysis)
    tables = [_designs(group, known, step, side) for step in group.steps for side in SIDES]
    charts = [_chart(analysis, group, known, kind, prefix) for kind in KINDS]
    found = Section(
        "Tables as in lab reports",
        tables=tuple(table for table in tables if table.rows),
        charts=tuple(chart for chart in charts if chart is not None),
        rank=APPENDIX,
    )
    return [found] if found.tables or found.charts else []


def run_section(result: CellResult, units: Units) -> Section:
    """One cell as perf stat prints a run: server and client."""
    perf = result.perf
    quantities = [*totals([result]), *metrics([result], SIDES, sums=False)]
    rows, absent = _rows(
        (one, [one.read(result, side, units) for side in SIDES]) for one in quantities
    )
    shares = {of_row(row).label: _running(row) for row in perf.rows}
    rows = tuple(replace(row, remarks=shares.get(row.name.partition(",")[0], ())) for row in rows)
    trials = " and ".join(
        plural(perf.trials.get(kind, 0), f"{kind} trial") for kind in (TIMED, COUNTED_TRIAL)
    )
    says = f"Means over {trials}. {INTERVALS}{absent}"
    header = (Heading("metric"), *map(Heading, SIDES))
    printed = (
        Section(f"What perf stat printed of the {side} of one trial", printed=text, rank=APPENDIX)
        for side, text in perf.printed.items()
    )
    return Section(
        result.cell.label(),
        text=() if rows else ("No trial of this cell is usable.",),
        tables=(Table(f"A run of {result.cell.label()}", says, header, rows),) if rows else (),
        sections=tuple(printed),
        rank=APPENDIX,
    )


@dataclass(frozen=True)
class Published:
    """One published figure."""

    source: str
    """`report D (Linux under Windows)`."""
    design: str
    connections: int
    side: str
    metric: str
    """As claims call it."""
    per: str
    """As `Quantity` has it."""
    unit: str
    value: float

    def of(self, quantity: TableQuantity, side: str) -> float | None:
        """The value in the unit of the quantity; None for another quantity or an unknown unit."""
        if (self.metric, self.per, self.side) != (quantity.published, quantity.per, side):
            return None
        if self.unit == quantity.unit:
            return self.value
        factor = IN_THAT.get((self.unit, quantity.unit))
        return None if factor is None else self.value * factor


def published(analysis: Analysis) -> list[Published]:
    """Each figure once; columns of a published table of differences are left out."""
    found = {
        Published(
            source=claim.source,
            design=one.design,
            connections=one.connections,
            side=one.side,
            metric=(one.metric or claim.metric).removesuffix(OVER_ITERATIVE),
            per=one.per,
            unit=one.unit,
            value=one.value,
        ): None
        for claim in analysis.claims
        for one in claim.published
        if not one.column
    }
    return sorted(found, key=lambda one: (one.source, one.connections))


def beside(
    known: Sequence[Published], group: Group, quantity: TableQuantity, side: str
) -> Iterator[tuple[Published, float]]:
    """The published figures of a group's cells, each in the unit of the quantity."""
    if group.axis != AXES["connections"]:
        return
    raced = {result.cell.contender for result in group.cells}
    for one in known:
        value = one.of(quantity, side)
        if value is not None and one.design in raced and one.connections in group.steps:
            yield one, value


def _designs(group: Group, known: Sequence[Published], step: int, side: str) -> Table:
    """All contenders at one step of the axis, each with its published figures beside it."""
    results = {result.cell.contender: result for result in group.at(step)}
    whole = is_whole(group)
    quantities = [
        *(totals(results.values()) if whole else []),
        *metrics(results.values(), [side], sums=not whole),
    ]
    theirs: dict[tuple[str, str], dict[TableQuantity, float]] = {}
    for quantity in quantities:
        for one, value in beside(known, group, quantity, side):
            if one.connections == step:
                theirs.setdefault((one.design, one.source), {})[quantity] = value
    columns = [
        (name, source)
        for name in results
        for source in ("", *(source for design, source in theirs if design == name))
    ]

    def figure(quantity: TableQuantity, name: str, source: str) -> Estimate | float | None:
        if source:
            return theirs[name, source].get(quantity)
        return quantity.read(results[name], side, group.units)

    rows, absent = _rows((one, [figure(one, *column) for column in columns]) for one in quantities)
    says = [WHOLE if whole else WINDOW, INTERVALS + absent]
    sources = dict.fromkeys(source for _, source in columns if source)
    says += [PUBLISHED.format("; ".join(sources))] if sources else []
    header = (Heading("metric"), *(Heading(name, short(source)) for name, source in columns))
    title = f"{side.capitalize()}, {group.axis.count(step)}"
    return Table(title, " ".join(says), header, rows)


def is_whole(group: Group) -> bool:
    """Whether whole processes were counted, not only the load."""
    return group.facts.get("scope") == PROCESS


def short(source: str) -> str:
    """`report D`, of `report D (Linux under Windows)`."""
    return source.partition(" (")[0]


def _rows(
    figures: Iterable[tuple[TableQuantity, Sequence[Estimate | float | None]]],
) -> tuple[tuple[Row, ...], str]:
    """Rows with a figure, and a sentence about the others, with a leading space."""
    rows: list[Row] = []
    absent: dict[str, list[str]] = {}
    for quantity, found in figures:
        ours = [one for one in found if isinstance(one, Estimate)]
        name = f"{quantity.label}, {quantity.unit}" if quantity.unit else quantity.label
        if is_shown(ours):
            rows.append(Row(name, tuple(map(_figure, found))))
        else:
            states = sorted({one.state for one in ours})
            absent.setdefault(" or ".join(states), []).append(quantity.label)
    words = "; ".join(f"{', '.join(labels)} ({state})" for state, labels in absent.items() if state)
    return tuple(rows), f" Without a figure: {words}." if words else ""


def _figure(one: Estimate | float | None) -> Figure:
    """A plain number was published; None was not."""
    if one is None:
        return Figure(DASH)
    if not isinstance(one, Estimate):
        return Figure(published_value(one))
    value, half = around(one)
    remark = "" if one.value is None or one.state == MEASURED else f"({one.state})"
    return Figure(value, f"±{half}" if half else "", remark)


@dataclass(frozen=True)
class PlotKind:
    name: str
    title: str
    events: tuple[tuple[str, str], ...]
    """With their units."""
    metrics: tuple[str, ...]
    bars: bool = False


KINDS = (
    PlotKind(
        "clocks", "CPU-clock and task-clock", (("cpu-clock", NS), ("task-clock", NS)), (), True
    ),
    PlotKind(
        "switches",
        "Context switches, the clock and instructions per cycle",
        (("context-switches", COUNT),),
        ("clock_ghz", "instructions_per_cycle"),
    ),
    PlotKind(
        "cache",
        "Cache references and misses",
        (("cache-references", COUNT), ("cache-misses", COUNT)),
        (),
    ),
)


def _chart(
    analysis: Analysis, group: Group, known: Sequence[Published], kind: PlotKind, prefix: str
) -> Chart | None:
    """With the panels that were measured; None without any."""
    quantities = [of_event(name, unit, is_whole(group)) for name, unit in kind.events]
    quantities += [of_metric(BY_NAME[name]) for name in kind.metrics]
    drawn = [
        (panel, theirs)
        for quantity in quantities
        for theirs in [list(beside(known, group, quantity, SERVER))]
        if (panel := _panel(analysis, group, quantity, theirs, kind.bars)) is not None
    ]
    if not drawn:
        return None
    panels = tuple(panel for panel, _ in drawn)
    sources = dict.fromkeys(one.source for _, theirs in drawn for one, _ in theirs)
    says = "Server side, with 95 % intervals."
    says += f" {HOLLOW.format('; '.join(sources))}" if sources else ""
    what = kind.title
    if len(panels) < len(quantities):
        what = capitalized(" and ".join(panel.title for panel in panels))
    title = f"{what} against the {group.axis.quantity}"
    return Chart(f"{prefix}{kind.name}", title, says, panels)


def _panel(
    analysis: Analysis,
    group: Group,
    quantity: TableQuantity,
    theirs: list[tuple[Published, float]],
    bars: bool,
) -> Panel | None:
    """None if it was not measured here."""
    ours = [
        (result.cell.contender, step, estimate)
        for step, result in group.step_cells()
        if (estimate := quantity.read(result, SERVER, group.units)) is not None
        and estimate.state in DRAWN
    ]

    if not ours:
        return None
    rows = [chart_row(*one, quantity) for one in ours]
    hollow = [
        chart_row(one.design, one.connections, estimate, quantity) | {"source": one.source}
        for one, value in theirs
        for estimate in [Estimate(value, None, None, 1, MEASURED)]
    ]
    draw = bars_beside if bars else lines_beside
    spec = draw(analysis.contenders, group.axis, quantity, rows, hollow)
    return Panel(quantity.label, quantity.unit, spec)


def _running(row: CounterRow) -> tuple[str, ...]:
    """How long perf could count it, if it shared a hardware counter with others."""
    known = [one.running_percent for one in row.sides.values() if one.running_percent is not None]
    return (f"counted {min(known):.0f} % of the time",) if known and min(known) < WHOLE_TIME else ()
