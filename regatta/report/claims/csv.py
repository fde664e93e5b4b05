"""verdicts.csv: a row a claim. claims.csv: a row a claim, scope and comparison, and a figure."""

from regatta.analysis.claims.result import ClaimPart, ClaimResult, MeasuredFigure
from regatta.ledger.inputs.records import PublishedFigure
from regatta.report.claims.words import SCOPES, seen_of
from regatta.report.csv import Cells, written

HEADER = (
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
    return written(HEADER, ({**row, "claim": claim.id} for claim in claims for row in _rows(claim)))


def _rows(claim: ClaimResult) -> list[Cells]:
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
