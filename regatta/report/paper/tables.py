"""The tables of lab reports: metric × (server, client), and metric × design."""

from collections.abc import Iterable

from regatta.analysis.estimates import Estimate
from regatta.analysis.results import CellResult
from regatta.analysis.statistics.units import Units
from regatta.ledger.metrics import SIDES
from regatta.ledger.planned import COUNTED_TRIAL, TIMED
from regatta.report.paper.elements import Column, PaperTable, Row, file_name
from regatta.report.paper.groups import PaperGroup
from regatta.report.paper.published import as_estimate, beside
from regatta.report.paper.quantities import Quantity, is_shown, metrics, totals
from regatta.report.text.numbers import plural

METRIC = "metric"
INTERVALS = "± is the distance to the farther end of the 95 % interval."
WHOLE = "Whole processes, start to exit, as perf stat counts them."
WINDOW = "The load alone."
PUBLISHED = "Published figures are from other machines: {}."


def run_table(result: CellResult, units: Units) -> PaperTable:
    """One cell as perf stat prints a run: server and client."""
    cell, perf = result.cell, result.perf
    quantities = [*totals([result]), *metrics([result], SIDES, sums=False)]
    trials = " and ".join(
        plural(perf.trials.get(kind, 0), f"{kind} trial") for kind in (TIMED, COUNTED_TRIAL)
    )
    rows, absent = _rows(
        (one, [one.read(result, side, units) for side in SIDES]) for one in quantities
    )
    return PaperTable(
        name=file_name("run", cell.id, cell.contender),
        title=f"A run of {cell.label()}",
        says=f"Means over {trials}. {INTERVALS}{absent}",
        head=METRIC,
        columns=tuple(Column(side) for side in SIDES),
        rows=rows,
    )


def designs_table(of: PaperGroup, step: int, side: str) -> PaperTable:
    """All contenders at one step of the axis, each with its published figures beside it."""
    group = of.group
    results = {result.cell.contender: result for result in group.at(step)}
    quantities = [
        *(totals(results.values()) if of.is_whole else []),
        *metrics(results.values(), [side], sums=not of.is_whole),
    ]
    theirs: dict[tuple[str, str], dict[Quantity, Estimate]] = {}
    for quantity in quantities:
        for one, value in beside(of.known, group, quantity, side):
            if one.connections == step:
                theirs.setdefault((one.design, one.source), {})[quantity] = as_estimate(value)
    columns = [
        (name, source)
        for name in results
        for source in ("", *(source for design, source in theirs if design == name))
    ]

    def figure(quantity: Quantity, name: str, source: str) -> Estimate | None:
        if source:
            return theirs[name, source].get(quantity)
        return quantity.read(results[name], side, group.units)

    rows, absent = _rows((one, [figure(one, *column) for column in columns]) for one in quantities)
    says = [WHOLE if of.is_whole else WINDOW, INTERVALS + absent]
    sources = dict.fromkeys(source for _, source in columns if source)
    says += [PUBLISHED.format("; ".join(sources))] if sources else []
    return PaperTable(
        name=file_name(of.number, "designs", step, side),
        title=f"{side.capitalize()}, {group.axis.count(step)}{of.where}",
        says=" ".join(says),
        head=METRIC,
        columns=tuple(Column(name, short(source)) for name, source in columns),
        rows=rows,
    )


def short(source: str) -> str:
    """`report D`, of `report D (Linux under Windows)`."""
    return source.partition(" (")[0]


def _rows(
    figures: Iterable[tuple[Quantity, list[Estimate | None]]],
) -> tuple[tuple[Row, ...], str]:
    """Rows with a figure, and a sentence about the others, with a leading space."""
    rows: list[Row] = []
    absent: dict[str, list[str]] = {}
    for quantity, of_columns in figures:
        if is_shown(of_columns):
            rows.append(Row(quantity.label, quantity.unit, tuple(of_columns)))
        else:
            states = sorted({one.state for one in of_columns if one is not None})
            absent.setdefault(" or ".join(states), []).append(quantity.label)
    words = "; ".join(f"{', '.join(labels)} ({state})" for state, labels in absent.items() if state)
    return tuple(rows), f" Without a figure: {words}." if words else ""
