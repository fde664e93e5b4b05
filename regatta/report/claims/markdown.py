"""The claims of a study in summary.md: the table of verdicts, then the figures of each claim."""

from regatta.analysis.claims.result import VERDICTS, ClaimResult
from regatta.report.claims import words
from regatta.report.claims.lines import claim_lines
from regatta.report.text.markdown import escape


def claims_markdown(claims: list[ClaimResult]) -> list[str]:
    """Empty if the study has no claims."""
    if not claims:
        return []
    scopes = [scope for scope in words.SCOPES if any(scope in claim.scopes for claim in claims)]
    titles = ["claim", "says", *(words.SCOPES[scope] for scope in scopes), "why"]
    lines = ["## Claims", "", words.tally(claims), "", *_sources(claims)]
    lines += [f"| {' | '.join(titles)} |", "| --- " * len(titles) + "|"]
    lines += [_row(claim, scopes) for claim in claims]
    lines += ["", words.LEGEND, ""]
    for claim in claims:
        lines += _details(claim)
    return lines


def _sources(claims: list[ClaimResult]) -> list[str]:
    """Verdicts by source; empty if there is only one source."""
    of_each = words.by_source(claims)
    if len(of_each) == 1:
        return []
    given = [verdict for verdict in VERDICTS if any(claim.verdict == verdict for claim in claims)]
    titles = ["claimed by", "claims", *given]
    lines = [f"| {' | '.join(titles)} |", f"| --- {'| ---: ' * (len(titles) - 1)}|"]
    for source, of in of_each.items():
        counts = [sum(claim.verdict == verdict for claim in of) for verdict in given]
        lines.append(f"| {' | '.join([escape(source), *map(str, [len(of), *counts])])} |")
    return [*lines, ""]


def _row(claim: ClaimResult, scopes: list[str]) -> str:
    cells = [f"**{escape(claim.id)}**", escape(claim.says)]
    for scope in scopes:
        result = claim.scopes.get(scope)
        cells.append(f"{words.MARKS[result.verdict]} {result.verdict}" if result else "")
    return f"| {' | '.join([*cells, escape(claim.why)])} |"


def _details(claim: ClaimResult) -> list[str]:
    source = f", {escape(claim.source)}" if claim.source else ""
    where = f" ({escape(claim.where)})" if claim.where else ""
    lines = [f"**{escape(claim.id)}{source}{where}:** {escape(claim.says)}", ""]
    lines += [f"- note: {escape(claim.note)}"] if claim.note else []
    for line in claim_lines(claim):
        verdict = f" **{line.verdict}**:" if line.verdict else ""
        figures = f" {escape(line.figures)}" if line.figures else ""
        notes = f" ({escape(line.notes)})" if line.notes else ""
        lines.append(f"- {line.title}:{verdict}{figures}{notes}")
    for _, result in words.by_scope(claim)[-1:]:
        for part in result.parts:
            seen = ", ".join(
                text for text in (words.interval(part), words.detectable(part)) if text
            )
            lines.append(
                f"  - {escape(part.label)}: {escape(words.value(part))}"
                f"{f' [{escape(seen)}]' if seen else ''}: {part.verdict}"
            )
    return [*lines, ""]
