"""The reports of a ledger; one that was analysed already, whatever its place, is not again."""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from regatta.analysis.analyse import analyse
from regatta.analysis.results import Analysis
from regatta.ledger.read import read
from regatta.report.files import write_files
from regatta.report.json_summary import to_dict
from regatta.report.terminal.explain import print_standings
from regatta.report.terminal.screen import print_screen

_known: dict[bytes, Analysis] = {}


def analysed(ledger: Path) -> Analysis:
    """Nobody changes an analysis: all forms of a report, and tests of the same race, share it."""
    what = hashlib.sha256(ledger.read_bytes()).digest()
    if what not in _known:
        _known[what] = analyse(read(ledger))
    return _known[what]


def printed(show: Callable[..., object], *what: object, width: int = 100, **terminal: Any) -> str:
    """What it shows of these on a console."""
    out = io.StringIO()
    show(*what, Console(file=out, width=width, **terminal))
    return out.getvalue()


def write(ledger: Path) -> None:
    """All files, beside the ledger."""
    write_files(analysed(ledger), ledger.parent)


def screen(ledger: Path, console: Console) -> None:
    print_screen(analysed(ledger), console)


def explain(ledger: Path, console: Console) -> None:
    print_standings(analysed(ledger), console)


def summary_json(ledger: Path) -> dict[str, Any]:
    return to_dict(analysed(ledger))
