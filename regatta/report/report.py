"""What a person sees of a race: tables, a page, and files, all made from the ledger alone."""

import os
from pathlib import Path
from typing import Any

from rich.console import Console

from regatta.analysis.analyse import Analysis, analyse
from regatta.errors import RegattaError
from regatta.ledger.read import read
from regatta.report.claims.csv import claims_csv
from regatta.report.csv import to_csv
from regatta.report.json_summary import to_dict
from regatta.report.markdown import to_markdown
from regatta.report.page.html import to_html
from regatta.report.pictures import write_pictures
from regatta.report.terminal.explain import print_standings
from regatta.report.terminal.screen import print_screen


def write(ledger_path: Path) -> None:
    """Writes report.html, summary.md and summary.csv, of claims claims.csv, beside the ledger."""
    analysis = _analysis(ledger_path)
    _write(ledger_path.with_name("summary.csv"), to_csv(analysis))
    if analysis.claims:
        _write(ledger_path.with_name("claims.csv"), claims_csv(analysis.claims))
    _write(ledger_path.with_name("summary.md"), to_markdown(analysis))
    _write(ledger_path.with_name("report.html"), to_html(analysis))


def screen(ledger_path: Path, console: Console) -> None:
    """Prints who won and what is wrong, on one screen."""
    print_screen(_analysis(ledger_path), console)


def explain(ledger_path: Path, console: Console) -> None:
    """Prints all standings with their intervals and sentences."""
    print_standings(_analysis(ledger_path), console)


def summary_json(ledger_path: Path) -> dict[str, Any]:
    """The summary as plain data."""
    return to_dict(_analysis(ledger_path))


def pictures(ledger_path: Path, folder: Path) -> list[Path]:
    """Every chart as a PNG file in the folder, light and dark."""
    return write_pictures(_analysis(ledger_path), folder)


_last: dict[tuple[Any, ...], Analysis] = {}


def _analysis(path: Path) -> Analysis:
    """A race's end asks for its report and its table: the resampling is done once for both."""
    files = (path, path.with_name(path.name + "-wal"))
    states = [(file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.exists()]
    key = (path.resolve(), *states)
    if key not in _last:
        analysis = analyse(read(path))
        _last.clear()
        _last[key] = analysis
    return _last[key]


def _write(path: Path, text: str) -> None:
    """The whole file or none of it: somebody may have the last one open."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8", errors="replace")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise RegattaError(
            f"cannot write {path}: {error.strerror or error}; make room or the folder writable"
        ) from error
