"""The claims as lines of text, for terminals and Markdown."""

from dataclasses import dataclass

from regatta.analysis.claims.result import ClaimResult
from regatta.report.claims import words
from regatta.report.claims.panels import PUBLISHED, Panel, panels


@dataclass(frozen=True)
class ClaimLine:
    scope: str
    """`published`, `process` or `window`."""
    title: str
    verdict: str
    """Empty for published figures."""
    figures: str
    notes: str
    """What is detectable, and how often single runs would support the claim."""


def claim_lines(claim: ClaimResult) -> list[ClaimLine]:
    """Published figures first, then the results scope by scope."""
    by_scope: dict[str, list[Panel]] = {}
    for of_metric in panels(claim):
        for panel in of_metric:
            by_scope.setdefault(panel.scope, []).append(panel)
    found = []
    if PUBLISHED in by_scope:
        figures = _figures(by_scope[PUBLISHED])
        found.append(ClaimLine(PUBLISHED, PUBLISHED, "", figures, words.disagreement(claim)))
    for scope, result in words.by_scope(claim):
        notes = [words.unseen(result), words.single_runs(result)]
        found.append(
            ClaimLine(
                scope,
                words.SCOPES[scope],
                result.verdict,
                _figures(by_scope.get(scope, [])),
                "; ".join(note for note in notes if note),
            )
        )
    return found


def _figures(of: list[Panel]) -> str:
    if len(of) == 1:
        return of[0].text()
    return "; ".join(f"{words.metric_words(panel.metric)}: {panel.text()}" for panel in of)
