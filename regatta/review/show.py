"""Prints a review, two or three short lines per finding."""

from itertools import groupby
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from regatta.review.finding import CONTRADICTION, NOT_SHOWN
from regatta.review.review import Review
from regatta.show.text import plain, printable

HEADINGS = {
    CONTRADICTION: ("These figures contradict one another", "bold red"),
    NOT_SHOWN: ("What these figures do not show", "yellow"),
}
INDENT, NARROWEST = 2, 20
MOST_SHOWN = 20  # findings shown per check; a table may have a hundred thousand rows


def print_review(found: Review, console: Console) -> None:
    """Prints the advice of a check once, below its findings."""
    for kind, (heading, style) in HEADINGS.items():
        those = [one for one in found.findings if one.check.kind == kind]
        if those:
            _line(heading, console, style)
            console.print()
        for check, of_check in groupby(those, key=lambda one: one.check):
            alike = list(of_check)
            for one in alike[:MOST_SHOWN]:
                head = Text.assemble(
                    plain(f"{one.file}:{one.line}: ", console),
                    plain(check.title, console, "bold"),
                    plain(f" ({one.subject})" if one.subject else "", console),
                )
                console.print(head, soft_wrap=True)
                _paragraph(one.says, console)
            if len(alike) > MOST_SHOWN:
                _line(f"{len(alike) - MOST_SHOWN:,} more of this kind: --json lists them.", console)
            _paragraph(f"Do: {check.do}", console)
            console.print()
    for reading in found.readings:
        if reading.left:
            lines = _number(len(reading.left), "line")
            says = f"{reading.file}: {lines} with digits not read, first line {reading.left[0]}."
            _line(says, console)
    _line(summary(found), console)


def _line(text: str, console: Console, style: str = "") -> None:
    console.print(plain(text, console, style), soft_wrap=True)


def _paragraph(text: str, console: Console) -> None:
    """Indented, and no wider than the screen."""
    width = max(console.width - INDENT, NARROWEST)
    for line in wrap(printable(text), width, break_on_hyphens=False):
        _line(f"{INDENT * ' '}{line}", console)


def summary(found: Review) -> str:
    of = (
        f"{_number(found.figures, 'figure')} of {_number(found.runs, 'run')} in "
        f"{_number(len(found.readings), 'file')}"
    )
    if not found.findings:
        return f"Nothing found in {of}. That does not prove them right."
    contradictions = sum(one.check.kind == CONTRADICTION for one in found.findings)
    others = len(found.findings) - contradictions
    return f"{of}: {_number(contradictions, 'contradiction')}, {others:,} not shown."


def _number(count: int, word: str) -> str:
    return f"{count:,} {word if count == 1 else word + 's'}"
