"""summary.md: the standings as text that any forge or mail shows well."""

import re

from regatta.analysis.analyse import Analysis, CellResult, Failure, Group
from regatta.analysis.metrics import STANDINGS, Metric, side_of
from regatta.report.environment import environment_rows
from regatta.report.numbers import interval_of, plural, value_of
from regatta.report.sentences import (
    LEGEND,
    failure_sentence,
    headline,
    mark,
    progress_sentence,
    verdict_sentence,
)


def to_markdown(analysis: Analysis) -> str:
    lines = [
        f"# {escape(analysis.meta.get('study_title', 'A race'))}",
        "",
        "<!-- Made from ledger.sqlite by regatta; make it again with `regatta report`. -->",
        "",
    ]
    for sentence in (progress_sentence(analysis), failure_sentence(analysis)):
        if sentence:
            lines += [f"**{escape(sentence)}**", ""]
    for group in analysis.groups:
        lines += _group(group, alone=len(analysis.groups) == 1)
    lines += [LEGEND, "In brackets: 95 % intervals.", ""]
    if analysis.failures:
        lines += ["## Failed trials", ""]
        lines += [f"- {_failure(failure)}" for failure in analysis.failures]
        lines.append("")
    lines += ["## Where it was measured", "", "| what | value |", "| --- | --- |"]
    lines += [f"| {escape(row.label)} | {escape(row.text)} |" for row in environment_rows(analysis)]
    return "\n".join(lines) + "\n"


def _group(group: Group, alone: bool) -> list[str]:
    lines = [] if alone else [f"## {escape(group.title)}", ""]
    lines += [f"**{escape(headline(group))}.**", ""]
    if len(group.connections) > 1:
        lines += [escape(verdict_sentence(group, group.overall)), ""]
    for verdict, connections in zip(group.by_connections, group.connections, strict=True):
        heading = "##" if alone else "###"
        lines += [f"{heading} {plural(connections, 'connection')}", ""]
        titles = [_title(metric) for metric in STANDINGS]
        lines.append(f"| design | {' | '.join(titles)} |")
        lines.append("| --- |" + " ---: |" * len(titles))
        for result in group.at(connections):
            name = result.cell.contender
            star = mark(verdict, name)
            label = f"**{escape(name)}** {star}" if star else escape(name)
            cells = [_figure(result, metric) for metric in STANDINGS]
            lines.append(f"| {label} | {' | '.join(cells)} |")
        lines += ["", escape(verdict_sentence(group, verdict)), ""]
    return lines


def _failure(failure: Failure) -> str:
    cell, trial = failure.cell, failure.trial
    where = f"{escape(cell.contender)}, {plural(cell.connections, 'connection')}"
    return f"{where}, block {trial.block}: {escape(trial.reason or 'no reason recorded')}"


def _title(metric: Metric) -> str:
    unit = f", {metric.unit}" if metric.unit else ""
    return f"{metric.label}{unit}"


def _figure(result: CellResult, metric: Metric) -> str:
    estimate = result.estimates[side_of(metric), metric.name]
    interval = interval_of(estimate)
    return f"{value_of(estimate)} [{interval}]" if interval else value_of(estimate)


def escape(text: str) -> str:
    """Text that Markdown shows as it is: a contender's name may hold anything."""
    flat = " ".join(text.split())
    escaped = re.sub(r"([\\`*_\[\]|#~])", r"\\\1", flat)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
