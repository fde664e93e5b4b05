"""summary.csv: one row a cell, side and metric."""

import csv
from io import StringIO

from regatta.analysis.analyse import Analysis
from regatta.analysis.metrics import BY_NAME
from regatta.report.sentences import cell_words

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
                writer.writerow(
                    (
                        cell.contender,
                        cell.work,
                        cell.load,
                        cell.engine,
                        cell.dialect,
                        cell.connections,
                        cell.rate,
                        cell.idle,
                        cell.slow,
                        cell.workers,
                        side,
                        name,
                        BY_NAME[name].unit,
                        _number(estimate.value),
                        _number(estimate.low),
                        _number(estimate.high),
                        estimate.trials,
                        estimate.state,
                        _number(result.started),
                        cell_words(result),
                    )
                )
    return out.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"
