"""The claims of a study: the verdicts in one table, then each with its figures."""

from regatta.judge.claims.result import VERDICTS, ClaimPart, ClaimResult, ScopeResult
from regatta.judge.results import Analysis
from regatta.show import claim_words as words
from regatta.show.claim_figures import PUBLISHED, ClaimPanel, panel_spec, panels
from regatta.show.view import FOLDED, Chart, Panel, Section, Table, plain_table

READ = (
    "Filled points are means measured here, with their 95 % intervals; hollow points are published "
    "figures, each from one run. Each panel has its own unit: compare the order within a panel, "
    "not numbers between panels."
)


def claims_section(analysis: Analysis) -> Section:
    """For a study with claims."""
    return Section(
        "Claims",
        says=words.tally(analysis.claims),
        tables=tuple(_tables(analysis.claims)),
        sections=tuple(_claim(claim, analysis.contenders) for claim in analysis.claims),
        quiet=(words.LEGEND, READ),
        name="claims",
    )


def _tables(claims: list[ClaimResult]) -> list[Table]:
    """Of the verdicts, and how many of each there are by source if there are several sources."""
    scopes = [scope for scope in words.SCOPES if any(scope in claim.scopes for claim in claims)]
    header = ["claim", "says", *(words.SCOPES[scope] for scope in scopes), "why"]
    rows = [
        [claim.id, claim.says, *(_verdict(claim.scopes.get(scope)) for scope in scopes), claim.why]
        for claim in claims
    ]
    verdicts = plain_table("Verdicts", "", header, rows)
    of_each = words.by_source(claims)
    if len(of_each) == 1:
        return [verdicts]
    given = [verdict for verdict in VERDICTS if any(claim.verdict == verdict for claim in claims)]
    counts = [
        [
            source,
            f"{len(of)}",
            *(f"{sum(one.verdict == verdict for one in of)}" for verdict in given),
        ]
        for source, of in of_each.items()
    ]
    return [plain_table("Claimed by", "", ["source", "claims", *given], counts), verdicts]


def _verdict(result: ScopeResult | None) -> str:
    return f"{words.MARKS[result.verdict]} {result.verdict}" if result else ""


def _claim(claim: ClaimResult, contenders: list[str]) -> Section:
    source = (
        f"Claimed by {claim.source}{f', {claim.where}' if claim.where else ''}."
        if claim.source
        else ""
    )
    text = [source, words.disagreement(claim), claim.note and f"Note: {claim.note}"]
    text += lines(claim)
    parts = _parts(claim)
    return Section(
        f"{words.MARKS[claim.verdict]} {claim.id}: {claim.says}",
        says=claim.why,
        text=tuple(filter(None, text)),
        tables=(parts,) if parts.rows else (),
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
    for scope, result in words.by_scope(claim):
        known = _figures(by_scope.get(scope, []))
        notes = "; ".join(filter(None, (words.unseen(result), words.single_runs(result))))
        found.append(
            f"{words.SCOPES[scope]}: {_verdict(result)}"
            + (f": {known}" if known else "")
            + (f" ({notes})" if notes else "")
        )
    return found


def _figures(of: list[ClaimPanel]) -> str:
    if len(of) == 1:
        return of[0].text()
    return "; ".join(f"{words.metric_words(panel.metric)}: {panel.text()}" for panel in of)


def _parts(claim: ClaimResult) -> Table:
    """A row a comparison, a column a scope."""
    scopes = words.by_scope(claim)
    labels = dict.fromkeys(part.label for _, result in scopes for part in result.parts)
    by_label = [{part.label: part for part in result.parts} for _, result in scopes]
    rows = [[label, *(_part(parts.get(label)) for parts in by_label)] for label in labels]
    header = ["must hold", *(words.SCOPES[scope] for scope, _ in scopes)]
    return plain_table("Comparisons", f"Intervals: {words.TOGETHER}.", header, rows)


def _part(part: ClaimPart | None) -> str:
    if part is None:
        return ""
    lines = [f"{words.MARKS[part.verdict]} {words.value(part)}"]
    lines += [text for text in (words.interval(part), words.detectable(part)) if text]
    return "\n".join(lines)


def _charts(claim: ClaimResult, contenders: list[str]) -> tuple[Chart, ...]:
    """A chart a metric, a panel a scope; without panels in which nothing was measured."""
    metrics = [[panel for panel in of if panel.measured] for of in panels(claim)]
    return tuple(
        Chart(
            f"claim-{claim.id}" + (f"-{of[0].metric}" if len(metrics) > 1 else ""),
            f"{claim.id}: {claim.says}",
            words.metric_words(of[0].metric)
            + ("; dashed: proportional to the connections" if any(one.grows for one in of) else ""),
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
