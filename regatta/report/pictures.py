"""The charts of a report as PNG files, for other pages: each light and dark.

Drawn by vl-convert, without a browser or a network, from the specifications in report.html with
what the page has around them (title, legend, size).
"""

import re
from pathlib import Path
from typing import Any

import vl_convert

from regatta.analysis.results import Analysis
from regatta.errors import RegattaError
from regatta.ledger.metrics import Metric
from regatta.report.charts.charts import (
    charted,
    far_rows,
    latency_chart,
    metric_chart,
    metric_rows,
)
from regatta.report.charts.knee import knee_charts
from regatta.report.charts.theme import SCHEMES, config
from regatta.report.claims.picture import claim_pictures
from regatta.report.text.printable import all_printable

WIDTH = 640
SCALE = 2.0
"""Of the pixels: sharp on a screen of twice the usual density."""
LEGEND = {"symbolOpacity": 1, "symbolStrokeWidth": 0, "symbolDash": []}
"""Else a legend takes the faintness of a band, or the dashes of a line for its symbol's edge."""
Spec = dict[str, Any]


def write_pictures(analysis: Analysis, folder: Path) -> list[Path]:
    """One file a chart and scheme; those that nobody could measure are left out."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [
            _draw(spec, scheme, folder / f"{name}{scheme.suffix}.png")
            for name, spec in pictures(analysis).items()
            for scheme in SCHEMES
        ]
    except OSError as error:
        raise RegattaError(
            f"cannot write pictures to {folder}: {error.strerror or error}; "
            "free some space or name another folder"
        ) from error


def pictures(analysis: Analysis) -> dict[str, Spec]:
    """Every picture's specification by its file's name."""
    found: dict[str, Spec] = {}
    for number, group in enumerate(analysis.groups, start=1):
        prefix = f"{number}-" if len(analysis.groups) > 1 else ""
        for _, side, metric in charted(group):
            rows = metric_rows(group, metric, side)
            if rows:
                far = far_rows(analysis, group, metric, side)
                spec = metric_chart(analysis, group, metric, rows, far)
                title = _metric_title(metric, side)
                under = f"{group.title}; bars are 95 % intervals"
                found[f"{prefix}{side}-{metric.name}"] = _alone(spec, title, under)
        for step in group.steps:
            if any(result.latencies.requests for result in group.at(step)):
                title = "Share of the requests that were answered within a time"
                under = f"{group.axis.count(step)}; {group.title}"
                spec = latency_chart(analysis, group, step)
                found[f"{prefix}latency-{step}"] = _alone(spec, title, under)
    for name, of, metric, spec in knee_charts(analysis):
        title = f"{metric.label} against the offered rate, {metric.unit}"
        found[name] = _alone(spec, title, f"{of.title}; bars are 95 % intervals")
    found |= claim_pictures(analysis)
    return {re.sub(r"[^a-zA-Z0-9_.-]+", "-", name): spec for name, spec in found.items()}


def _draw(spec: Spec, scheme: Any, path: Path) -> Path:
    # Of a control character in a name vl-convert would end the program.
    shown = all_printable(spec)
    drawn = vl_convert.vegalite_to_png(shown, scale=SCALE, config=config(scheme))
    path.write_bytes(drawn)
    return path


def _alone(spec: Spec, title: str, under: str) -> Spec:
    """A chart of the page as a picture that explains itself."""
    titled = {"text": title, "subtitle": under}
    return {**with_legends(spec), "width": WIDTH, "title": titled}


def with_legends(part: Any) -> Any:
    """The page has one legend for all charts, so that theirs are switched off."""
    if isinstance(part, list):
        return [with_legends(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        key: LEGEND if key == "legend" and value is None else with_legends(value)
        for key, value in part.items()
    }


def _metric_title(metric: Metric, side: str) -> str:
    unit = f", {metric.unit}" if metric.unit else ""
    return f"{side.capitalize()}: {metric.label}{unit}"
