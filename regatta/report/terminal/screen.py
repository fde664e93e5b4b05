"""The end of a race on 80 columns and 24 lines: the winner, one table, and the warnings.

The same in a log as on a terminal. Everything else is in the report and in `--explain`.
"""

from collections.abc import Iterator
from textwrap import shorten

from rich.console import Console
from rich.text import Text

from regatta.analysis.results import Analysis, Group
from regatta.analysis.standings import LARGER, Verdict
from regatta.ledger.metrics import PRIMARY
from regatta.report.claims.words import tally
from regatta.report.soundness.notes import COLUMNS, notes
from regatta.report.soundness.sittings import sittings_line
from regatta.report.tables.held_rates import held_lines
from regatta.report.terminal.screen_table import RIVAL, compares, sign, tables
from regatta.report.text.numbers import TOO_FEW_TO_SAY, between, plural
from regatta.report.text.terminal import plain
from regatta.report.text.verdicts import headline

LINES = 24
PROMPT_LINES = 3
"""Lines kept free for the path of the report, the hint on `--explain` and the next prompt."""
MOST_VERDICTS, MOST_NOTES = 4, 3
MEANS = {
    "★": "★ the least, by a clear margin",
    "☆": "☆ not distinguishable from the least",
    RIVAL: f"{RIVAL} may be as good",
}


def print_screen(analysis: Analysis, console: Console) -> None:
    above, below = list(_verdicts(analysis, console)), list(_below(analysis, console))
    around = (max(1, len(text.wrap(console, console.width))) for text in [*above, *below])
    room = LINES - PROMPT_LINES - sum(around)
    for line in above:
        console.print(line)
    shown = list(tables(analysis, console))
    for number, lines in enumerate(shown):
        # The first table is always shown in full.
        left = len(shown) - number
        if number and len(lines) + (left > 1) > room:
            console.print(plain(f"{plural(left, 'more table')} in the report", console, "dim"))
            break
        for line in lines:
            console.print(line, soft_wrap=True)
        room -= len(lines)
    for line in below:
        console.print(line)


def _verdicts(analysis: Analysis, console: Console) -> Iterator[Text]:
    """A line a group of cells, then the title of the table."""
    yield Text()
    for group in analysis.groups[:MOST_VERDICTS]:
        yield plain(_verdict(group, alone=len(analysis.groups) == 1), console, "bold")
    more = len(analysis.groups) - MOST_VERDICTS
    if more > 0:
        count = plural(more, "more group of cells", "more groups of cells")
        yield plain(f"{count} in the report", console, "dim")
    yield Text()
    yield plain(table_title(analysis), console, "dim")


def table_title(analysis: Analysis) -> str:
    if not compares(analysis):
        return f"Server CPU per request, {PRIMARY.unit} ± its 95 % interval"
    within = "by sitting" if analysis.units.sitting_of else "within blocks"
    return f"Server CPU per request, times that of the best ± its 95 % interval, {within}"


def _verdict(group: Group, alone: bool) -> str:
    says = headline(group) + _interval(group.overall)
    # At most two lines: the table has all names.
    return shorten(says if alone else f"{group.title}: {says}", 2 * COLUMNS, placeholder=" …")


def _interval(verdict: Verdict) -> str:
    """Of the winner's lead; empty where it bounds nothing."""
    if verdict.lead is None or verdict.low is None or verdict.high is None:
        return ""
    says = between(verdict.lead, verdict.low, verdict.high)
    return f" ({says})" if verdict.outcome == LARGER and says != TOO_FEW_TO_SAY else ""


def _below(analysis: Analysis, console: Console) -> Iterator[Text]:
    signs = {
        sign(verdict, result)
        for group in analysis.groups
        for verdict, step in zip(group.by_step, group.steps, strict=True)
        for result in group.at(step)
    }
    means = [says for star, says in MEANS.items() if star in signs]
    if compares(analysis):
        means.append(f"{PRIMARY.unit}: this machine, this hour only")
    if means:
        yield plain("; ".join(means), console, "dim")
    for line in held_lines(analysis):
        yield plain(line, console)
    if line := sittings_line(analysis):
        yield plain(line, console, "dim")
    if analysis.claims:
        yield plain(tally(analysis.claims), console, "bold")
    wrong = [note.line for note in notes(analysis) if note.line]
    for line in wrong[:MOST_NOTES]:
        yield plain(line, console, "yellow")
    if len(wrong) > MOST_NOTES:
        yield plain(f"{plural(len(wrong) - MOST_NOTES, 'more note')} in the report", console, "dim")
