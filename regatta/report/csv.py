"""summary.csv: one row a cell, side and metric, and what each contender of a matched load holds."""

import csv
from io import StringIO

from regatta.analysis.estimates import Estimate
from regatta.analysis.results import Analysis
from regatta.ledger.cell import Cell
from regatta.ledger.metrics import BY_NAME
from regatta.report.tables.held import held_rows
from regatta.report.text.trials import cell_words

HEADER = (
    "contender",
    "work",
    "load",
    "engine",
    "dialect",
    "connections",
    "rate",
    "idle",
    "slow",
    "workers",
    "side",
    "metric",
    "unit",
    "value",
    "low",
    "high",
    "trials",
    "state",
    "started_share",
    "says",
)


def to_csv(analysis: Analysis) -> str:
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    seen: set[int] = set()
    for group in analysis.groups:
        for result in group.cells:
            cell = result.cell
            if cell.id in seen:  # a design without a pool stands beside each size of the pools
                continue
            seen.add(cell.id)
            for (side, name), estimate in result.estimates.items():
                row = _row(cell, cell.rate, side, name, BY_NAME[name].unit, estimate)
                writer.writerow((*row, _number(result.started), cell_words(result)))
    for held in held_rows(analysis):
        writer.writerow((*_row(*held), "", ""))
    return out.getvalue()


def _row(  # noqa: PLR0913, PLR0917  (what a line has)
    cell: Cell, rate: int | None, side: str, metric: str, unit: str, estimate: Estimate
) -> tuple[object, ...]:
    return (
        cell.contender,
        cell.work,
        cell.load,
        cell.engine,
        cell.dialect,
        cell.connections,
        rate,
        cell.idle,
        cell.slow,
        cell.workers,
        side,
        metric,
        unit,
        _number(estimate.value),
        _number(estimate.low),
        _number(estimate.high),
        estimate.trials,
        estimate.state,
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"
