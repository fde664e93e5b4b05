"""summary.csv: one row a cell, side and metric, and the held rates of matched loads; with claims
also claims.csv."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO

from regatta.judge.claims.result import ClaimResult
from regatta.judge.results import Analysis
from regatta.record.cell import IDENTITY
from regatta.record.metrics import metric_named
from regatta.show.claim_words import seen_of
from regatta.show.held import held_rows
from regatta.show.text import printable
from regatta.show.trials import cell_words

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
CLAIMS = (
    *("claim", "scope", "row", "verdict", "label"),
    *("design", "connections", "engine", "side", "metric"),
    *("scale", "value", "low", "high", "unit", "per"),
    *("p_value", "blocks", "detectable", "says"),
)
FORMULAS = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20")
"""Full-width forms too. Tabs and line ends are escaped before, so they cannot precede one."""
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?")
Cells = dict[str, object]


def written(header: tuple[str, ...], rows: Iterable[Mapping[str, object]]) -> str:
    """Missing columns stay empty; keys outside the header are ignored."""
    out = StringIO()
    writer = csv.DictWriter(out, header, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _text(cell) for name, cell in row.items()})
    return out.getvalue()


def _text(cell: object) -> object:
    if isinstance(cell, str):
        shown = printable(cell)
        # Behind an apostrophe a spreadsheet shows a formula instead of evaluating it (OWASP, "CSV
        # Injection").
        return f"'{shown}" if shown.startswith(FORMULAS) and not NUMBER.fullmatch(shown) else shown
    return f"{cell:.9g}" if isinstance(cell, float) else "" if cell is None else cell


def to_csv(analysis: Analysis) -> str:
    return written(HEADER, _rows(analysis))


def _rows(analysis: Analysis) -> Iterator[Cells]:
    # Each cell once: a design without a pool is in the table of each pool size.
    results = {result.cell.id: result for group in analysis.groups for result in group.cells}
    for result in results.values():
        more = {"started_share": result.started, "says": cell_words(result)}
        for (side, name), estimate in result.estimates.items():
            figure: Cells = {"side": side, "metric": name, "unit": metric_named(name).unit}
            yield {**vars(result.cell), **figure, **vars(estimate), **more}
    for cell, rate, side, name, unit, estimate in held_rows(analysis):
        figure = {"rate": rate, "side": side, "metric": name, "unit": unit}
        yield {**vars(cell), **figure, **vars(estimate)}


def claims_csv(claims: list[ClaimResult]) -> str:
    """`row` is `claim` (the verdict in a scope), `part`, `figure` or `published`."""
    return written(
        CLAIMS, ({**row, "claim": claim.id} for claim in claims for row in _claim_rows(claim))
    )


def _claim_rows(claim: ClaimResult) -> Iterator[Cells]:
    """Of each its attributes that are columns, and values for columns of another name."""
    for printed in claim.published:
        metric = printed.metric or claim.metric
        yield {**vars(printed), "row": "published", "label": printed.column, "metric": metric}
    for scope, result in claim.scopes.items():
        yield {"scope": scope, "row": "claim", "verdict": result.verdict, "says": claim.says}
        for part in result.parts:
            more = {"detectable": seen_of(part), "says": part.reason}
            yield {**vars(part), **more, "scope": scope, "row": "part"}
        for figure in result.figures:
            more = {"blocks": figure.trials, "says": figure.state}
            yield {**vars(figure), **more, "scope": scope, "row": "figure"}
