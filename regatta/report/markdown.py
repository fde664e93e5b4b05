"""summary.md: the report as Markdown."""

from regatta.analysis.results import Analysis, CellResult, Group, NotedTrial
from regatta.ledger.metrics import STANDINGS, Metric, side_of
from regatta.report.claims.markdown import claims_markdown
from regatta.report.soundness.notes import notes
from regatta.report.soundness.sittings import sittings_sentence
from regatta.report.soundness.tables import soundness_tables
from regatta.report.tables.against_best import READ, RelativeFigure, relative_figures, seen_sentence
from regatta.report.tables.calibration import calibration_sentence, calibration_table
from regatta.report.tables.environment import environment_rows
from regatta.report.tables.estimates import tables
from regatta.report.tables.held_rates import held_tables
from regatta.report.text.markdown import escape
from regatta.report.text.numbers import interval_of, plural, value_of
from regatta.report.text.table import Table
from regatta.report.text.trials import rate_words
from regatta.report.text.verdicts import FAMILIES, LEGEND, headline, mark, verdict_sentence


def to_markdown(analysis: Analysis) -> str:
    lines = [
        f"# {escape(analysis.names.heading)}",
        "",
        "<!-- Made from ledger.sqlite by regatta; make it again with `regatta report`. -->",
        "",
    ]
    for note in notes(analysis):
        lines += [f"**{escape(note.sentence)}**", ""]
    for group in analysis.groups:
        lines += _group(analysis, group, alone=len(analysis.groups) == 1)
    lines += [f"{LEGEND} {READ}", "", FAMILIES, ""]
    lines += [escape(sittings_sentence(analysis)), ""]
    for table in held_tables(analysis):
        lines += _table(table, "##")
    lines += claims_markdown(analysis.claims)
    for title, noted in (
        ("Failed trials", analysis.failures),
        ("Client-bound trials", analysis.client_bound),
    ):
        if noted:
            lines += [f"## {title}", "", *(f"- {_noted(one)}" for one in noted), ""]
    if analysis.disturbed:
        listed = [f"- {_disturbed(one)}" for one in analysis.disturbed]
        lines += ["## Disturbed trials", "", *listed, ""]
    for table in soundness_tables(analysis):
        lines += _table(table, "##")
    lines += _calibration(analysis)
    lines += ["## Where it was measured", "", "| what | value |", "| --- | --- |"]
    lines += [f"| {escape(row.label)} | {escape(row.text)} |" for row in environment_rows(analysis)]
    return "\n".join(lines) + "\n"


def _group(analysis: Analysis, group: Group, alone: bool) -> list[str]:
    lines = [] if alone else [f"## {escape(group.title)}", ""]
    lines += [f"**{escape(headline(group))}.**", ""]
    if len(group.steps) > 1:
        lines += [escape(verdict_sentence(group, group.overall)), ""]
    for verdict, step in zip(group.by_step, group.steps, strict=True):
        heading = "##" if alone else "###"
        lines += [f"{heading} {group.axis.count(step)}", ""]
        titles = [_title(metric) for metric in STANDINGS]
        lines.append(f"| design | {' | '.join(titles)} |")
        lines.append("| --- |" + " ---: |" * len(titles))
        relative = relative_figures(group, step)
        for result in group.at(step):
            name = result.cell.contender
            star = mark(verdict, name)
            label = f"**{escape(name)}** {star}" if star else escape(name)
            if result.client_bound:
                label += f" ({plural(result.client_bound, 'trial')} client-bound)"
            if result.held_up:
                label += f" ({plural(result.held_up, 'trial')} disturbed)"
            if not_held := rate_words(result):
                label += f" ({not_held})"
            cells = [_figure(result, one, relative.get((name, one.name))) for one in STANDINGS]
            lines.append(f"| {label} | {' | '.join(cells)} |")
        lines += ["", escape(verdict_sentence(group, verdict)), ""]
        if seen := seen_sentence(group, step):
            lines += [escape(seen), ""]
        for table in tables(analysis, group, step):
            lines += _table(table, f"{heading}#")
    return lines


def _calibration(analysis: Analysis) -> list[str]:
    sentence, table = calibration_sentence(analysis), calibration_table(analysis)
    if table is not None:
        return [*_table(table, "##"), escape(sentence), ""]
    return [escape(sentence), ""]


def _table(table: Table, heading: str) -> list[str]:
    return [
        f"{heading} {escape(table.title)}",
        "",
        f"| {' | '.join(map(escape, table.header))} |",
        "| --- |" + " ---: |" * (len(table.header) - 1),
        *(f"| {' | '.join(escape(_one_line(text)) for text in row)} |" for row in table.rows),
        "",
        escape(table.says),
        "",
    ]


def _one_line(figure: str) -> str:
    value, _, interval = figure.partition("\n")
    return _with(value, interval)


def _noted(noted: NotedTrial) -> str:
    trial = noted.trial
    why = trial.reason or trial.client_bound or "no reason recorded"
    return f"{escape(noted.cell.label())}, block {trial.block}: {escape(why)}"


def _disturbed(noted: NotedTrial) -> str:
    trial = noted.trial
    then = "run again" if trial.superseded else "kept"
    where = f"{escape(noted.cell.label())}, block {trial.block}, attempt {trial.attempt}"
    return f"{where}: {escape(trial.disturbed or '')}; {then}"


def _title(metric: Metric) -> str:
    unit = f", {metric.unit}" if metric.unit else ""
    return f"{metric.label}{unit}"


def _figure(result: CellResult, metric: Metric, relative: RelativeFigure | None) -> str:
    estimate = result.estimates[side_of(metric), metric.name]
    level = _with(value_of(estimate), interval_of(estimate))
    return level if relative is None else f"{_with(relative.value, relative.interval)}; {level}"


def _with(value: str, interval: str) -> str:
    return f"{value} [{interval}]" if interval else value
