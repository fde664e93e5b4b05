"""The charts of a report as PNG files, for other pages: each light and dark.

Drawn by vl-convert, without a browser or network, from the specifications of report.html, with the
title, legend and size that the page adds around them.
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
    latency_chart,
    metric_chart,
    metric_rows,
    outlier_rows,
    warm_up_chart,
)
from regatta.report.charts.knee import knee_charts
from regatta.report.charts.theme import SCHEMES, config
from regatta.report.claims.picture import claim_pictures
from regatta.report.text.printable import all_printable

WIDTH = 640
SCALE = 2.0
"""Pixels per CSS pixel, for high-density screens."""
LEGEND = {"symbolOpacity": 1, "symbolStrokeWidth": 0, "symbolDash": []}
"""Otherwise legend symbols take a band's opacity or a line's dashes."""
Spec = dict[str, Any]


def write_pictures(analysis: Analysis, folder: Path) -> list[Path]:
    """One file a chart and colour scheme; charts without data are left out."""
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
    """Specifications by file name."""
    found: dict[str, Spec] = {}
    for number, group in enumerate(analysis.groups, start=1):
        prefix = f"{number}-" if len(analysis.groups) > 1 else ""
        for _, side, metric in charted(group):
            rows = metric_rows(group, metric, side)
            if rows:
                far = outlier_rows(analysis, group, metric, side)
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
    if analysis.warm_ups:
        title = "Server CPU per request of each server's first process, µs"
        found["warm-up"] = _alone(warm_up_chart(analysis), title, "in slices of the load")
    for name, of, metric, spec in knee_charts(analysis):
        title = f"{metric.label} against the offered rate, {metric.unit}"
        found[name] = _alone(spec, title, f"{of.title}; bars are 95 % intervals")
    found |= claim_pictures(analysis)
    return {re.sub(r"[^a-zA-Z0-9_.-]+", "-", name): spec for name, spec in found.items()}


def _draw(spec: Spec, scheme: Any, path: Path) -> Path:
    # A control character in a name would make vl-convert abort the process.
    shown = all_printable(spec)
    drawn = vl_convert.vegalite_to_png(shown, scale=SCALE, config=config(scheme))
    path.write_bytes(drawn)
    return path


def _alone(spec: Spec, title: str, under: str) -> Spec:
    """A chart of the page with a title, as a standalone picture."""
    titled = {"text": title, "subtitle": under}
    return {**with_legends(spec), "width": WIDTH, "title": titled}


def with_legends(part: Any) -> Any:
    """Switches on the legends, which are off in charts because the page has one for all."""
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
