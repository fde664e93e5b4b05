"""report.html: one file that needs no network and no other file."""

import json
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from regatta.analysis.results import Analysis, CellResult, Group
from regatta.ledger.metrics import METRICS, PRIMARY, STANDINGS, Metric, side_of
from regatta.report.charts.charts import (
    charted,
    latency_chart,
    metric_chart,
    metric_rows,
    outlier_rows,
    warm_up_chart,
)
from regatta.report.charts.knee import held_section
from regatta.report.charts.palette import styles
from regatta.report.claims.page import claims_section
from regatta.report.page.paper import paper_section
from regatta.report.page.vega import vega
from regatta.report.paper.groups import PaperGroup, paper_groups
from regatta.report.soundness.notes import notes
from regatta.report.soundness.sittings import sittings_sentence
from regatta.report.soundness.tables import soundness_tables
from regatta.report.tables.against_best import READ, relative_figures, seen_sentence
from regatta.report.tables.calibration import calibration_sentence, calibration_table
from regatta.report.tables.counters import absent, absent_because, counter_lines, elapsed
from regatta.report.tables.environment import environment_rows
from regatta.report.tables.estimates import tables, worker_columns
from regatta.report.text.numbers import interval_of, plural, short, value_of
from regatta.report.text.printable import LINES, all_printable, printable
from regatta.report.text.trials import rate_words
from regatta.report.text.verdicts import FAMILIES, LEGEND, headline, mark, verdict_sentence

WARM_UP = "warm-up"
"""The id of its chart."""
SHORT_LIST = 10
"""Longer lists are folded."""
TABS = (
    ("server", "Server", "What each request cost the server"),
    ("client", "Client", "What each request cost the client"),
    ("answers", "Answers", "What the clients saw"),
)


def to_html(analysis: Analysis) -> str:
    charts: dict[str, Any] = {}
    groups = [
        _group(analysis, of, number, charts) for number, of in enumerate(paper_groups(analysis))
    ]
    if analysis.warm_ups:
        charts[WARM_UP] = warm_up_chart(analysis)
    designs = analysis.environment.get("designs")
    summaries = (designs if isinstance(designs, dict) else {}) | analysis.names.titles
    pages = environment("regatta.report.page")
    pages.globals.update(plural=plural, side_of=side_of, value_of=value_of, interval_of=interval_of)
    return pages.get_template("report.html.j2").render(
        analysis=analysis,
        title=analysis.names.heading,
        groups=groups,
        held=held_section(analysis, charts),
        claims=claims_section(analysis, charts),
        calibration=calibration_table(analysis),
        soundness=soundness_tables(analysis),
        warm_up=WARM_UP if analysis.warm_ups else "",
        calibration_sentence=calibration_sentence(analysis),
        legend=f"{LEGEND} {FAMILIES}",
        read=READ,
        sittings=sittings_sentence(analysis),
        designs=_designs(analysis, summaries),
        environment=environment_rows(analysis),
        notes=notes(analysis),
        short_list=SHORT_LIST,
        metrics=METRICS,
        columns=STANDINGS,
        primary=PRIMARY,
        study_toml=analysis.meta.get("study_toml", ""),
        charts=_json(charts),
        vega=Markup(vega()),
    )


def environment(package: str) -> Environment:
    """For the templates of that package."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: Any) -> Any:
    """Makes control characters visible; the template escapes everything that is not Markup."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value, LINES)


def _json(value: Any) -> Markup:
    """JSON that cannot end its script element, whatever a contender's name contains."""
    shown = all_printable(value, LINES)  # names look the same as outside the charts
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)


def _designs(analysis: Analysis, summaries: dict[str, Any]) -> list[dict[str, Any]]:
    known = styles(analysis.contenders)
    return [
        {
            "name": name,
            "colour": known[name].colour,
            "path": known[name].path,
            "dash": " ".join(map(str, known[name].dash)),
            "summary": str(summaries.get(name, "")),
        }
        for name in analysis.contenders
    ]


def _group(
    analysis: Analysis, of: PaperGroup, number: int, charts: dict[str, Any]
) -> dict[str, Any]:
    group, overall = of.group, of.group.overall
    return {
        "id": f"g{number}",
        "title": group.title,
        "headline": headline(group),
        "sentence": verdict_sentence(group, overall),
        "axis": group.axis,
        "steps": [
            {
                "at": step,
                "sentence": verdict_sentence(group, verdict),
                "seen": seen_sentence(group, step),
                "rows": _standings(analysis, group, step, mark_of=verdict),
                "latency": _latency(analysis, group, number, step, charts),
                "tables": tables(analysis, group, step),
                "workers": worker_columns(group, step),
            }
            for verdict, step in zip(group.by_step, group.steps, strict=True)
        ],
        "tabs": [_tab(analysis, group, number, tab, charts) for tab in TABS],
        "cells": [
            {
                "contender": result.cell.contender,
                "at": step,
                "title": _cell_title(group, result, step),
                "lines": counter_lines(result),
                "absent": absent(result),
                "absent_because": absent_because(result),
                "elapsed": elapsed(result),
                "printed": result.perf.printed,
                "requests": result.perf.requests,
                "trials": result.perf.trials,
                "failed": result.failed,
                "client_bound": result.client_bound,
            }
            for step, result in group.step_cells()
        ],
        "paper": paper_section(of, f"g{number}", charts),
    }


def _cell_title(group: Group, result: CellResult, step: int) -> str:
    """A design without a pool appears at every pool size and does not name one."""
    name = result.cell.contender
    has_step = getattr(result.cell, group.axis.name) is not None
    return f"{name}, {group.axis.count(step)}" if has_step else name


def _standings(analysis: Analysis, group: Group, step: int, mark_of: Any) -> list[dict[str, Any]]:
    known = styles(analysis.contenders)
    results = group.at(step)
    relative = relative_figures(group, step)
    costs = [result.estimates["server", PRIMARY.name] for result in results]
    most = max((cost.high or cost.value or 0.0 for cost in costs), default=0.0)
    return [
        {
            "name": name,
            "order": analysis.contenders.index(name),
            "star": mark(mark_of, name),
            "colour": known[name].colour,
            "path": known[name].path,
            "failed": result.failed,
            "client_bound": result.client_bound,
            "held_up": result.held_up,
            "rate_words": rate_words(result),
            "figures": [
                (result.estimates[side_of(of), of.name], relative.get((name, of.name)))
                for of in STANDINGS
            ],
            "bar": _bar(result.estimates["server", PRIMARY.name], most),
        }
        for result in results
        for name in [result.cell.contender]
    ]


def _bar(estimate: Any, most: float) -> dict[str, float] | None:
    """The value and its interval, in per cent of the longest bar."""
    if not most or estimate.value is None:
        return None
    ends = {name: getattr(estimate, name) for name in ("value", "low", "high")}
    known = {name: estimate.value if end is None else end for name, end in ends.items()}
    return {name: round(end / most * 100, 2) for name, end in known.items()}


def _tab(
    analysis: Analysis, group: Group, number: int, tab: tuple[str, str, str], charts: dict[str, Any]
) -> dict[str, Any]:
    shown, missing = [], []
    for of_tab, side, metric in charted(group):
        if of_tab != tab[0]:
            continue
        rows = metric_rows(group, metric, side)
        if not rows:
            missing.append((metric, _why(group, metric, side)))
            continue
        name = f"g{number}-{side}-{metric.name}"
        far = outlier_rows(analysis, group, metric, side)
        charts[name] = metric_chart(analysis, group, metric, rows, far)
        shown.append({"id": name, "metric": metric})
    return {
        "id": f"g{number}-{tab[0]}",
        "label": tab[1],
        "says": tab[2],
        "charts": shown,
        "missing": missing,
    }


def _why(group: Group, metric: Metric, side: str) -> str:
    known = (result.estimates.get((side, metric.name)) for result in group.cells)
    states = {estimate.state for estimate in known if estimate is not None}
    return ", ".join(sorted(states))


def _latency(
    analysis: Analysis, group: Group, number: int, step: int, charts: dict[str, Any]
) -> dict[str, Any]:
    requests = sum(result.latencies.requests for result in group.at(step))
    name = f"g{number}-latency-{step}"
    if requests:
        charts[name] = latency_chart(analysis, group, step)
    return {"id": name if requests else "", "requests": short(requests) if requests else "0"}
