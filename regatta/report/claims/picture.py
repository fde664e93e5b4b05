"""A claim as one picture: its words, its panels side by side, and why; and a table of all."""

import textwrap
from typing import Any

import altair as alt

from regatta.analysis.analyse import Analysis
from regatta.analysis.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimResult,
)
from regatta.report.claims import words
from regatta.report.claims.charts import panel_chart
from regatta.report.claims.panels import Panel, panels

WIDTH, GAP = 270, 44
"""Pixels of a panel, and between two."""
LETTERS = {1: 46, 2: 88, 3: 130}
"""That fit above one, two or three panels."""
TABLE = {"row": 22, "verdict": 150, "letters": 112}
COLOURS = {
    SUPPORTED: "yes",
    REFUTED: "no",
    UNDECIDED: "maybe",
    TOO_FEW: "maybe",
    NOT_MEASURABLE: "soft",
    "head": "soft",
}
Spec = dict[str, Any]


def claim_pictures(analysis: Analysis) -> dict[str, Spec]:
    """By name: `claims`, the verdicts of all; `claim-A1`, each with its figures."""
    if not analysis.claims:
        return {}
    found = {"claims": overview(analysis.claims)}
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


def overview(claims: list[ClaimResult]) -> Spec:
    """A line a claim: its verdicts, then its words."""
    scopes = [scope for scope in words.SCOPES if any(scope in claim.scopes for claim in claims)]
    texts: list[Spec] = []
    across = [44 + TABLE["verdict"] * place for place in range(len(scopes) + 1)]
    down = TABLE["row"] * 1.5
    for scope, x in zip(scopes, across, strict=False):
        texts.append({"x": x, "y": 8, "text": words.SCOPES[scope], "kind": "head"})
    for claim in claims:
        texts.append({"x": 0, "y": down, "text": claim.id, "kind": "id"})
        for scope, x in zip(scopes, across, strict=False):
            result = claim.scopes.get(scope)
            if result:
                verdict = result.verdict
                texts.append({"x": x, "y": down, "text": verdict, "kind": verdict})
        for line in textwrap.wrap(claim.says, TABLE["letters"]):
            texts.append({"x": across[-1], "y": down, "text": line, "kind": "says"})
            down += TABLE["row"] * 0.72
        down += TABLE["row"] * 0.5
    width = across[-1] + TABLE["letters"] * 5.7
    return _table(texts, width, down, words.tally(claims))


def _table(texts: list[Spec], width: float, height: float, title: str) -> Spec:
    kinds = list(dict.fromkeys(text["kind"] for text in texts))
    scale = {"nice": False, "zero": False}
    return {
        "$schema": alt.SCHEMA_URL,
        "width": width,
        "height": height,
        "title": title,
        "data": {"values": texts},
        "layer": [
            {
                "transform": [{"filter": {"field": "kind", "equal": kind}}],
                "mark": {"type": "text", "align": "left", **_look(kind)},
                "encoding": {
                    "x": {
                        "field": "x",
                        "type": "quantitative",
                        "axis": None,
                        "scale": {"domain": [0, width], **scale},
                    },
                    "y": {
                        "field": "y",
                        "type": "quantitative",
                        "axis": None,
                        "scale": {"domain": [height, 0], **scale},
                    },
                    "text": {"field": "text"},
                },
            }
            for kind in kinds
        ],
    }


def _look(kind: str) -> Spec:
    """Colours are parameters of the scheme's configuration."""
    weight = {} if kind in {"says", "head"} else {"fontWeight": "bold"}
    return {"color": {"expr": COLOURS.get(kind, "ink")}, **weight}
