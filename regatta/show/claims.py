"""The claims of a study: the verdicts in one table, then each with its figures."""

from collections import Counter as Tally
from dataclasses import replace

from regatta.judge.claims.result import VERDICTS, ClaimPart, ClaimResult
from regatta.judge.results import Analysis
from regatta.show import claim_words as words
from regatta.show.claim_figures import PUBLISHED, ClaimPanel, panel_spec, panels
from regatta.show.view import FOLDED, OPEN, Chart, Panel, Section, Table, plain_table

OURS = "this study"
"""The source of claims without one."""
READ = (
    "Filled points are means measured here, with their 95 % intervals; hollow points are published "
    "figures, each from one run. Each panel has its own unit: compare the order within a panel, "
    "not numbers between panels."
)


def claims_section(analysis: Analysis) -> Section:
    return Section(
        "Claims",
        says=words.tally(analysis.claims),
        tables=(*_sources(analysis.claims), _verdicts(analysis.claims)),
        sections=tuple(_claim(claim, analysis.contenders) for claim in analysis.claims),
        quiet=(words.LEGEND, READ),
        name="claims",
    )


def _sources(claims: list[ClaimResult]) -> tuple[Table, ...]:
    """How many of each verdict there are by source; empty if there is only one source."""
    counts: dict[str, Tally[str]] = {}
    for claim in claims:
        counts.setdefault(claim.source or OURS, Tally())[claim.verdict] += 1
    if len(counts) == 1:
        return ()
    given = [verdict for verdict in VERDICTS if any(of[verdict] for of in counts.values())]
    rows = [
        [source, f"{of.total()}", *(f"{of[verdict]}" for verdict in given)]
        for source, of in counts.items()
    ]
    return (plain_table("Claimed by", "", ["source", "claims", *given], rows),)


def _verdicts(claims: list[ClaimResult]) -> Table:
    scopes = [scope for scope in words.SCOPES if any(scope in claim.scopes for claim in claims)]
    rows = [
        [claim.id, claim.says, *(words.marked(claim.scopes.get(of)) for of in scopes), claim.why]
        for claim in claims
    ]
    header = ["claim", "says", *(words.SCOPES[scope] for scope in scopes), "why"]
    found = plain_table("Verdicts", "", header, rows)
    return replace(found, header=(*found.header[:-1], replace(found.header[-1], rank=OPEN)))


def _claim(claim: ClaimResult, contenders: list[str]) -> Section:
    where = f", {claim.where}" if claim.where else ""
    text = [
        f"Claimed by {claim.source}{where}." if claim.source else "",
        "" if claim.published_agrees else "The source's own figures contradict this.",
        f"Note: {claim.note}" if claim.note else "",
        *lines(claim),
    ]
    return Section(
        f"{words.MARKS[claim.verdict]} {claim.id}: {claim.says}",
        says=claim.why,
        text=tuple(filter(None, text)),
        tables=_parts(claim),
        charts=_charts(claim, contenders),
        rank=FOLDED,
        name=f"claim-{claim.id}",
        state=claim.verdict.split(maxsplit=1)[0],
    )


def lines(claim: ClaimResult) -> list[str]:
    """The figures published, then those of each scope with its verdict."""
    by_scope: dict[str, list[ClaimPanel]] = {}
    for of_metric in panels(claim):
        for panel in of_metric:
            by_scope.setdefault(panel.scope, []).append(panel)
    found = [f"{PUBLISHED}: {_figures(by_scope[PUBLISHED])}"] if PUBLISHED in by_scope else []
    for scope, title in words.SCOPES.items():
        if result := claim.scopes.get(scope):
            known = _figures(by_scope.get(scope, []))
            notes = "; ".join(filter(None, (words.unseen(result), words.single_runs(result))))
            line = ": ".join(filter(None, (title, words.marked(result), known)))
            found.append(f"{line} ({notes})" if notes else line)
    return found


def _figures(of: list[ClaimPanel]) -> str:
    if len(of) == 1:
        return of[0].text()
    return "; ".join(f"{words.metric_words(panel.metric)}: {panel.text()}" for panel in of)


def _parts(claim: ClaimResult) -> tuple[Table, ...]:
    """A row a comparison, a column a scope; empty if nothing is compared."""
    raced = [scope for scope in words.SCOPES if scope in claim.scopes]
    parts = {(part.label, scope): part for scope in raced for part in claim.scopes[scope].parts}
    rows = [
        [label, *(_part(parts.get((label, scope))) for scope in raced)]
        for label in dict.fromkeys(label for label, _ in parts)
    ]
    header = ["must hold", *(words.SCOPES[scope] for scope in raced)]
    says = f"Intervals: {words.TOGETHER}."
    return (plain_table("Comparisons", says, header, rows),) if rows else ()


def _part(part: ClaimPart | None) -> str:
    if part is None:
        return ""
    first = f"{words.MARKS[part.verdict]} {words.value(part)}"
    return "\n".join(filter(None, (first, words.interval(part), words.detectable(part))))


def _charts(claim: ClaimResult, contenders: list[str]) -> tuple[Chart, ...]:
    """A chart a metric, a panel a scope; without panels in which nothing was measured."""
    metrics = [[panel for panel in of if panel.measured] for of in panels(claim)]
    dashed = "; dashed: proportional to the connections"
    return tuple(
        Chart(
            f"claim-{claim.id}" + (f"-{of[0].metric}" if len(metrics) > 1 else ""),
            f"{claim.id}: {claim.says}",
            words.metric_words(of[0].metric) + dashed * any(panel.grows for panel in of),
            tuple(_panel(claim, panel, contenders) for panel in of),
        )
        for of in metrics
        if of
    )


def _panel(claim: ClaimResult, panel: ClaimPanel, contenders: list[str]) -> Panel:
    known = claim.scopes.get(panel.scope)
    title = claim.source if panel.scope == PUBLISHED and claim.source else panel.title
    title = f"{title}: {known.verdict}" if known else title
    return Panel(title, panel.unit, panel_spec(panel, contenders))
