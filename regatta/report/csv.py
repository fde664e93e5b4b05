"""summary.csv: one row a cell, side and metric, and the held rates of matched loads."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO

from regatta.analysis.results import Analysis
from regatta.ledger.cell import IDENTITY
from regatta.ledger.metrics import metric_named
from regatta.report.tables.held_rates import held_rows
from regatta.report.text.printable import printable
from regatta.report.text.trials import cell_words

FIRST = (
    *("contender", "work", "load", "engine", "dialect"),
    *("connections", "rate", "idle", "slow", "workers"),
)
HEADER = (
    *FIRST,
    # Everything else that distinguishes two cells.
    *(name for name in IDENTITY if name not in FIRST),
    *("side", "metric", "unit", "value", "low", "high", "trials", "state"),
    *("started_share", "says"),
)
FORMULAS = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20")
"""Full-width forms too. Tabs and line ends are escaped before, so they cannot precede one."""
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?")
Cells = dict[str, object]


def to_csv(analysis: Analysis) -> str:
    return written(HEADER, _rows(analysis))


def written(header: tuple[str, ...], rows: Iterable[Mapping[str, object]]) -> str:
    """Missing columns stay empty; keys outside the header are ignored."""
    out = StringIO()
    writer = csv.DictWriter(out, header, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _text(cell) for name, cell in row.items()})
    return out.getvalue()


def _rows(analysis: Analysis) -> Iterator[Cells]:
    seen: set[int] = set()
    for result in (result for group in analysis.groups for result in group.cells):
        if result.cell.id in seen:  # a design without a pool is in the table of each pool size
            continue
        seen.add(result.cell.id)
        more = {"started_share": result.started, "says": cell_words(result)}
        for (side, name), estimate in result.estimates.items():
            figure: Cells = {"side": side, "metric": name, "unit": metric_named(name).unit}
            yield {**vars(result.cell), **figure, **vars(estimate), **more}
    for cell, rate, side, name, unit, estimate in held_rows(analysis):
        figure = {"rate": rate, "side": side, "metric": name, "unit": unit}
        yield {**vars(cell), **figure, **vars(estimate)}


def _text(cell: object) -> object:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return _no_formula(printable(cell))
    return f"{cell:.9g}" if isinstance(cell, float) else cell


def _no_formula(text: str) -> str:
    """Behind an apostrophe a spreadsheet shows a formula instead of evaluating it (OWASP, "CSV
    Injection")."""
    return f"'{text}" if text.startswith(FORMULAS) and not NUMBER.fullmatch(text) else text
