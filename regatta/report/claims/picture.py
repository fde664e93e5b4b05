"""A claim as one picture: its words, its panels side by side, and why."""

import textwrap
from typing import Any

import altair as alt

from regatta.analysis.claims.result import ClaimResult
from regatta.analysis.results import Analysis
from regatta.report.claims import words
from regatta.report.claims.charts import panel_chart
from regatta.report.claims.panels import Panel, panels

WIDTH, GAP = 270, 44
"""Pixels of a panel, and between two."""
LETTERS = {1: 46, 2: 88, 3: 130}
"""Letters of a title that fit above one, two or three panels."""
Spec = dict[str, Any]


def claim_pictures(analysis: Analysis) -> dict[str, Spec]:
    """By file name, `claim-A1`; claims without figures are left out."""
    found = {}
    for claim in analysis.claims:
        rows = [[panel for panel in of if panel.measured] for of in panels(claim)]
        if any(rows):
            found[f"claim-{claim.id}"] = _picture(claim, [of for of in rows if of], analysis)
    return found


def _picture(claim: ClaimResult, rows: list[list[Panel]], analysis: Analysis) -> Spec:
    datasets: Spec = {}
    drawn = [[_drawn(panel, claim, analysis, datasets) for panel in of] for of in rows]
    most = LETTERS[max(1, min(3, max(len(of) for of in rows)))]
    lines = [{"hconcat": of, "spacing": GAP} for of in drawn]
    return {
        "$schema": alt.SCHEMA_URL,
        "datasets": datasets,
        "vconcat": lines,
        "title": {
            "text": textwrap.wrap(f"{claim.id}: {claim.says}", most),
            "subtitle": textwrap.wrap(claim.why, int(most * 1.2)),
        },
    }


def _drawn(panel: Panel, claim: ClaimResult, analysis: Analysis, datasets: Spec) -> Spec:
    spec = panel_chart(panel, analysis.contenders)
    datasets |= spec.pop("datasets", {})
    spec.pop("$schema", None)
    result = claim.scopes.get(panel.scope)
    verdict = f": {result.verdict}" if result else ""
    several = len({of.metric for row in panels(claim) for of in row}) > 1
    metric = f"{words.metric_words(panel.metric)}, " if several else ""
    title = {"text": f"{panel.title}{verdict}", "fontSize": 12.5, "offset": 10}
    return {**spec, "width": WIDTH, "title": {**title, "subtitle": f"{metric}{panel.unit}"}}
