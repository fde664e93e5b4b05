"""summary.csv: one row a cell, side and metric, and the held rates of matched loads; with claims
also verdicts.csv and claims.csv."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO

from regatta.judge.claims.result import ClaimPart, ClaimResult, MeasuredFigure
from regatta.judge.results import Analysis
from regatta.record.cell import IDENTITY
from regatta.record.inputs import PublishedFigure
from regatta.record.metrics import metric_named
from regatta.show.claim_words import SCOPES, seen_of
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


CLAIMS = (
    *("claim", "scope", "row", "verdict", "label"),
    *("design", "connections", "engine", "side", "metric"),
    *("scale", "value", "low", "high", "unit", "per"),
    *("p_value", "blocks", "detectable", "says"),
)
VERDICTS = ("claim", "source", "where", "says", *SCOPES, "published_agrees", "why", "note")


def verdicts_csv(claims: list[ClaimResult]) -> str:
    """A claim, its source, and the verdict in each scope."""
    return written(VERDICTS, map(_verdicts, claims))


def _verdicts(claim: ClaimResult) -> Cells:
    found = {scope: result.verdict for scope, result in claim.scopes.items()}
    agrees = "yes" if claim.published_agrees else "no"
    return {**vars(claim), **found, "claim": claim.id, "published_agrees": agrees}


def claims_csv(claims: list[ClaimResult]) -> str:
    """`row` is `claim` (the verdict in a scope), `part`, `figure` or `published`."""
    return written(
        CLAIMS, ({**row, "claim": claim.id} for claim in claims for row in _claim_rows(claim))
    )


def _claim_rows(claim: ClaimResult) -> list[Cells]:
    found = [
        _row("published", one, label=one.column, metric=one.metric or claim.metric)
        for one in claim.published
    ]
    for scope, result in claim.scopes.items():
        verdict: Cells = {"row": "claim", "verdict": result.verdict, "says": claim.says}
        parts = [
            _row("part", part, detectable=seen_of(part), says=part.reason) for part in result.parts
        ]
        figures = [_row("figure", one, blocks=one.trials, says=one.state) for one in result.figures]
        found += [{"scope": scope, **row} for row in (verdict, *parts, *figures)]
    return found


def _row(kind: str, of: MeasuredFigure | ClaimPart | PublishedFigure, **more: object) -> Cells:
    """Its attributes that are columns, and values for columns of another name."""
    return {**vars(of), **more, "row": kind}
