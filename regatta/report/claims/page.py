"""The claims as report.html shows them: plain data for the template, and the charts."""

from typing import Any

from regatta.analysis.claims.result import NOT_MEASURABLE, ClaimPart, ClaimResult
from regatta.analysis.results import Analysis
from regatta.report.claims import words
from regatta.report.claims.charts import panel_chart
from regatta.report.claims.panels import PUBLISHED, Panel, panels

Charts = dict[str, Any]


def claims_section(analysis: Analysis, charts: Charts) -> dict[str, Any] | None:
    """None if the study has no claims."""
    if not analysis.claims:
        return None
    return {
        "tally": words.tally(analysis.claims),
        "legend": words.LEGEND,
        "sources": [
            {
                "title": source,
                "tally": words.tally(of),
                "claims": [_claim(analysis, claim, charts) for claim in of],
            }
            for source, of in words.by_source(analysis.claims).items()
        ],
    }


def verdict(name: str) -> dict[str, str]:
    """A verdict with its sign and its CSS class."""
    return {"name": name, "mark": words.MARKS[name], "class": name.split(maxsplit=1)[0]}


def _claim(analysis: Analysis, claim: ClaimResult, charts: Charts) -> dict[str, Any]:
    scopes = words.by_scope(claim)
    return {
        "id": claim.id,
        "says": claim.says,
        "source": claim.source,
        "where": claim.where,
        "note": claim.note,
        "why": claim.why,
        "denied": words.disagreement(claim),
        "verdict": verdict(claim.verdict),
        "scopes": [
            {
                "title": words.SCOPES[scope],
                "verdict": verdict(result.verdict),
                "unseen": words.unseen(result),
                "single_runs": words.single_runs(result),
            }
            for scope, result in scopes
        ],
        "metrics": [
            {
                "title": words.metric_words(of_metric[0].metric),
                "panels": [_panel(analysis, claim, panel, charts) for panel in of_metric],
            }
            for of_metric in panels(claim)
            if of_metric
        ],
        "parts": _parts(claim),
    }


def _panel(analysis: Analysis, claim: ClaimResult, panel: Panel, charts: Charts) -> dict[str, Any]:
    name = f"claim-{claim.id}-{panel.scope}-{panel.metric}"
    known = claim.scopes.get(panel.scope)
    if panel.measured:
        charts[name] = panel_chart(panel, analysis.contenders)
    return {
        "id": name if panel.measured else "",
        "title": claim.source if panel.scope == PUBLISHED and claim.source else panel.title,
        "unit": panel.unit,
        "verdict": verdict(known.verdict) if known else None,
        "missing": ", ".join(sorted({row.says for row in panel.rows})),
        "grows": panel.grows,
    }


def _parts(claim: ClaimResult) -> list[dict[str, Any]]:
    """A row a comparison, a cell a scope."""
    scopes = words.by_scope(claim)
    labels = dict.fromkeys(part.label for _, result in scopes for part in result.parts)
    by_label = [{part.label: part for part in result.parts} for _, result in scopes]
    return [
        {"label": label, "cells": [_cell(parts.get(label)) for parts in by_label]}
        for label in labels
    ]


def _cell(part: ClaimPart | None) -> dict[str, Any] | None:
    if part is None:
        return None
    return {
        "verdict": verdict(part.verdict),
        "value": words.value(part),
        "interval": words.interval(part),
        "title": ""
        if part.verdict == NOT_MEASURABLE
        else f"{words.TOGETHER}, {part.blocks} blocks",
        "detectable": words.detectable(part),
    }
