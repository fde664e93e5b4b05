"""claims.csv: one row a claim, scope and comparison; what was published in one row a figure."""

import csv
from io import StringIO

from regatta.analysis.claims.result import ClaimResult, Figure, Part, PublishedFigure
from regatta.report.claims.words import seen_of

HEADER = (
    "claim",
    "scope",
    "row",
    "verdict",
    "label",
    "design",
    "connections",
    "engine",
    "side",
    "metric",
    "scale",
    "value",
    "low",
    "high",
    "unit",
    "per",
    "p_value",
    "blocks",
    "detectable",
    "says",
)
Cells = dict[str, object]


def claims_csv(claims: list[ClaimResult]) -> str:
    """`row` is `claim` (the verdict in a scope), `part`, `figure` or `published`."""
    out = StringIO()
    writer = csv.DictWriter(out, HEADER, restval="", lineterminator="\n")
    writer.writeheader()
    for claim in claims:
        for row in _rows(claim):
            writer.writerow({"claim": claim.id, **{name: _text(row[name]) for name in row}})
    return out.getvalue()


def _rows(claim: ClaimResult) -> list[Cells]:
    found: list[Cells] = [_published(claim, one) for one in claim.published]
    for scope, result in claim.scopes.items():
        verdict: Cells = {"row": "claim", "verdict": result.verdict, "says": claim.says}
        rows = [verdict, *map(_part, result.parts), *map(_figure, result.figures)]
        found += [{"scope": scope, **row} for row in rows]
    return found


def _published(claim: ClaimResult, one: PublishedFigure) -> Cells:
    return {
        "row": "published",
        "label": one.column,
        "design": one.design,
        "connections": one.connections,
        "side": one.side,
        "metric": one.metric or claim.metric,
        "value": one.value,
        "unit": one.unit,
        "per": one.per,
    }


def _part(part: Part) -> Cells:
    return {
        "row": "part",
        "verdict": part.verdict,
        "label": part.label,
        "scale": part.scale,
        "value": part.value,
        "low": part.low,
        "high": part.high,
        "p_value": part.p_value,
        "blocks": part.blocks,
        "detectable": seen_of(part),
        "says": part.reason,
    }


def _figure(one: Figure) -> Cells:
    return {
        "row": "figure",
        "design": one.design,
        "connections": one.connections,
        "engine": one.engine,
        "side": one.side,
        "metric": one.metric,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "unit": one.unit,
        "per": one.per,
        "blocks": one.trials,
        "says": one.state,
    }


def _text(cell: object) -> object:
    if cell is None:
        return ""
    return f"{cell:.9g}" if isinstance(cell, float) else cell
