"""The reports of a ledger; equal ledgers are analysed once."""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.record.read import read
from regatta.show.build import view_of
from regatta.show.html import write_files
from regatta.show.json_summary import to_dict
from regatta.show.terminal import print_screen, print_view
from regatta.show.view import Section, Table

_known: dict[bytes, Analysis] = {}


def analysed(ledger: Path) -> Analysis:
    """Cached: an analysis is never modified, so tests of the same race can share it."""
    what = hashlib.sha256(ledger.read_bytes()).digest()
    if what not in _known:
        _known[what] = analyse(read(ledger))
    return _known[what]


def printed(show: Callable[..., object], *what: object, width: int = 100, **terminal: Any) -> str:
    """The text that `show` prints."""
    out = io.StringIO()
    show(*what, Console(file=out, width=width, **terminal))
    return out.getvalue()


def write(ledger: Path) -> None:
    """Writes all files beside the ledger."""
    analysis = analysed(ledger)
    write_files(analysis, view_of(analysis), ledger.parent)


def screen(ledger: Path, console: Console) -> None:
    print_screen(view_of(analysed(ledger)), console)


def explain(ledger: Path, console: Console) -> None:
    print_view(view_of(analysed(ledger)), console)


def summary_json(ledger: Path) -> dict[str, Any]:
    return to_dict(analysed(ledger))


def section(analysis: Analysis, title: str) -> Section:
    """The only section of the view with this title."""
    (found,) = (one for one in view_of(analysis).every() if one.title == title)
    return found


def tables(analysis: Analysis, title: str) -> list[Table]:
    """All of the view with this title."""
    found = [table for one in view_of(analysis).every() for table in one.tables]
    return [table for table in found if table.title == title]


def told(analysis: Analysis) -> str:
    """All that the view says, on one line: what every renderer draws (test_renderers.py)."""
    view = view_of(analysis)
    found = [note.sentence for note in view.notes]
    for one in view.every():
        found += [one.title, one.says, *one.text, *one.quiet]
        for table in one.tables:
            found += [table.title, table.says, *(heading.line for heading in table.header)]
            for row in table.rows:
                figures = " | ".join(figure.line for figure in row.figures)
                found.append(f"{row.mark}{row.name} {' '.join(row.remarks)} | {figures}")
    return " ".join(found)


def cells(table: Table) -> list[list[str]]:
    """The text of a table: the name of each row, then its figures with their intervals below."""
    return [
        [row.name, *(f"{one.value}\n{one.interval}".strip() for one in row.figures)]
        for row in table.rows
    ]
