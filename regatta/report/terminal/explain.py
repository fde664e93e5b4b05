"""`--explain`: all standings with their intervals and sentences, for a terminal or a log."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regatta.analysis.results import Analysis, CellResult, Group
from regatta.analysis.standings import Verdict
from regatta.ledger.metrics import PRIMARY, STANDINGS, Metric, side_of
from regatta.report.charts.palette import styles
from regatta.report.claims.terminal import print_claims
from regatta.report.soundness.notes import notes
from regatta.report.soundness.sittings import sittings_sentence
from regatta.report.soundness.tables import outlier_sentence
from regatta.report.tables.against_best import READ, RelativeFigure, relative_figures, seen_sentence
from regatta.report.tables.calibration import calibration_sentence
from regatta.report.tables.estimates import beyond_baseline
from regatta.report.tables.held_rates import sentences as held_sentences
from regatta.report.text.fitted import print_table
from regatta.report.text.numbers import interval_of, value_of
from regatta.report.text.printable import printable
from regatta.report.text.table import Table as Extra
from regatta.report.text.terminal import encodable, plain
from regatta.report.text.trials import rate_words
from regatta.report.text.verdicts import FAMILIES, LEGEND, mark, verdict_sentence

HEADERS = {
    "cpu_time_per_request_us": "server CPU\nµs/request",
    "cpu_busy_per_request_us": "CPU busy\nµs/request",
    "context_switches_per_request": "switches\n/request",
    "page_faults_per_request": "page faults\n/request",
    "latency_p50_ms": "p50\nms",
    "latency_p99_ms": "p99\nms",
    "latency_max_ms": "max\nms",
    "throughput_per_s": "throughput\n/s",
}
Figures = dict[tuple[str, str], RelativeFigure]


def print_standings(analysis: Analysis, console: Console) -> None:
    """The ratio to the best of the column is above each figure."""
    for group in analysis.groups:
        if len(analysis.groups) > 1:
            console.print(Text(f"\n{group.title}", style="bold underline"))
        for verdict, step in zip(group.by_step, group.steps, strict=True):
            _print_step(analysis, group, verdict, step, console)
        if len(group.steps) > 1:
            console.print()
            console.print(plain(verdict_sentence(group, group.overall), console, "bold"))
    console.print()
    for sentence in held_sentences(analysis):
        console.print(plain(sentence, console))
    console.print(plain(f"{LEGEND} {READ}", console, "dim"))
    console.print(plain(FAMILIES, console, "dim"))
    print_claims(analysis.claims, console)
    sentences = (
        sittings_sentence(analysis),
        outlier_sentence(analysis),
        calibration_sentence(analysis),
    )
    for sentence in sentences:
        if sentence:
            console.print(plain(sentence, console, "dim"))
    for note in notes(analysis):
        console.print(plain(note.sentence, console, "yellow"))


def _print_step(
    analysis: Analysis, group: Group, verdict: Verdict, step: int, console: Console
) -> None:
    console.print(Text(f"\n{group.axis.count(step)}", style="bold"))
    for number, columns in enumerate(_parts(analysis, console)):
        if number:
            console.print()
        print_table(_table(analysis, group, verdict, columns, console), console)
    console.print(plain(verdict_sentence(group, verdict), console))
    seen = seen_sentence(group, step)
    if seen:
        console.print(plain(seen, console, "dim"))
    beyond = beyond_baseline(analysis, group, step)
    if beyond is not None:
        _print_extra(beyond, console)


def _print_extra(extra: Extra, console: Console) -> None:
    console.print()
    console.print(plain(extra.title, console, "bold"))
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 1))
    for number, title in enumerate(extra.header):
        table.add_column(
            plain(title, console),
            justify="right" if number else "left",
            overflow="fold",
            no_wrap=number == 0,
        )
    for name, *figures in extra.rows:
        table.add_row(plain(name, console), *(_two_lines(text, console) for text in figures))
    print_table(table, console)
    console.print(plain(extra.says, console, "dim"))


def _table(
    analysis: Analysis,
    group: Group,
    verdict: Verdict,
    columns: tuple[Metric, ...],
    console: Console,
) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 1))
    table.add_column("design", min_width=_name_width(analysis), overflow="fold", vertical="top")
    for metric in columns:
        table.add_column(
            encodable(HEADERS[metric.name], console),
            justify="right",
            min_width=_column_width(analysis, metric),
            overflow="fold",
        )
    colours = styles(analysis.contenders)
    assert verdict.at is not None, "the overall verdict has no table"
    relative = relative_figures(group, verdict.at)
    for result in group.at(verdict.at):
        name = result.cell.contender
        star = encodable(mark(verdict, name), console)
        label = Text(f"{star or ' '} ", style="bold yellow")
        label.append(printable(name), style=f"{'bold ' if star else ''}{colours[name].colour}")
        for part in _remarks(result):
            label.append(f"\n  {part}", style="yellow")
        figures = (_figure(result, of, relative.get((name, of.name)), console) for of in columns)
        table.add_row(label, *figures)
    return table


def _remarks(result: CellResult) -> list[str]:
    """Below the contender's name."""
    counts = {
        "failed": result.failed,
        "client-bound": result.client_bound,
        "disturbed": result.held_up,
    }
    said = [f"{count} {what}" for what, count in counts.items() if count]
    return said + [part for part in rate_words(result).split(": ") if part]


def _figure(
    result: CellResult, metric: Metric, relative: RelativeFigure | None, console: Console
) -> Text:
    strong = "bold" if metric is PRIMARY else ""
    text = Text()
    if relative is not None:
        text.append(relative.value, style=strong)
        text.append(f" {relative.interval}\n" if relative.interval else "\n", style="dim")
    level = _level(result, metric)
    known = result.estimates[side_of(metric), metric.name].value is not None
    text.append(level, style="dim" if relative is not None or not known else strong)
    text.plain = encodable(text.plain, console)
    return text


def _level(result: CellResult, metric: Metric) -> str:
    estimate = result.estimates[side_of(metric), metric.name]
    return f"{value_of(estimate)} {interval_of(estimate)}".strip()


def _two_lines(figure: str, console: Console) -> Text:
    value, _, interval = figure.partition("\n")
    text = plain(value, console)
    if interval:
        text.append(encodable(f"\n{interval}", console), style="dim")
    return text


def _parts(analysis: Analysis, console: Console) -> list[tuple[Metric, ...]]:
    """The columns, split into as many tables as needed to avoid wrapping; all in one, which becomes
    a list, if one of them is too wide alone."""
    if any(_width(analysis, (metric,)) > console.width for metric in STANDINGS):
        return [tuple(STANDINGS)]
    parts: list[tuple[Metric, ...]] = [()]
    for metric in STANDINGS:
        wider = (*parts[-1], metric)
        if parts[-1] and _width(analysis, wider) > console.width:
            parts.append((metric,))
        else:
            parts[-1] = wider
    return parts


def _width(analysis: Analysis, columns: tuple[Metric, ...]) -> int:
    return _name_width(analysis) + 2 + sum(_column_width(analysis, one) + 2 for one in columns)


def _name_width(analysis: Analysis) -> int:
    words = [printable(name) for name in analysis.contenders]
    for group in analysis.groups:
        words += [part for result in group.cells for part in _remarks(result)]
    return 2 + max((len(word) for word in words), default=4)


def _column_width(analysis: Analysis, metric: Metric) -> int:
    """The same in all tables of a race, so that columns align."""
    found = [len(line) for line in HEADERS[metric.name].splitlines()]
    for group in analysis.groups:
        found += [len(_level(result, metric)) for result in group.cells]
        for step in group.steps:
            for (_, name), one in relative_figures(group, step).items():
                if name == metric.name:
                    found.append(len(f"{one.value} {one.interval}".strip()))
    return max(found)
