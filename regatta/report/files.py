"""The files of a report, all made from one analysis."""

import os
from pathlib import Path

from regatta.analysis.results import Analysis
from regatta.errors import RegattaError
from regatta.report.claims.csv import claims_csv, verdicts_csv
from regatta.report.csv import to_csv
from regatta.report.markdown import to_markdown
from regatta.report.page.html import to_html


def write_files(analysis: Analysis, folder: Path) -> None:
    """Writes report.html, summary.md and summary.csv, of claims verdicts.csv and claims.csv."""
    _write(folder / "summary.csv", to_csv(analysis))
    if analysis.claims:
        _write(folder / "verdicts.csv", verdicts_csv(analysis.claims))
        _write(folder / "claims.csv", claims_csv(analysis.claims))
    _write(folder / "summary.md", to_markdown(analysis))
    _write(folder / "report.html", to_html(analysis))


def _write(path: Path, text: str) -> None:
    """The whole file or none of it: somebody may have the last one open."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8", errors="replace")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise RegattaError(
            f"cannot write {path}: {error.strerror or error}; free some space or make the folder "
            "writable"
        ) from error
