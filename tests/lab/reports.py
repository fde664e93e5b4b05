"""The reports of a ledger; equal ledgers are analysed once."""

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
    write_files(analysed(ledger), ledger.parent)


def screen(ledger: Path, console: Console) -> None:
    print_screen(analysed(ledger), console)


def explain(ledger: Path, console: Console) -> None:
    print_standings(analysed(ledger), console)


def summary_json(ledger: Path) -> dict[str, Any]:
    return to_dict(analysed(ledger))
