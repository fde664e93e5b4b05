"""The files of a report, all made from one view."""

from pathlib import Path

from regatta.judge.results import Analysis
from regatta.record.files import write_whole
from regatta.show.csv import claims_csv, to_csv, verdicts_csv
from regatta.show.html import to_html
from regatta.show.markdown import to_markdown
from regatta.show.view import View


def write_files(analysis: Analysis, view: View, folder: Path) -> None:
    """report.html, summary.md and summary.csv; with claims also verdicts.csv and claims.csv."""
    write_whole(folder / "summary.csv", to_csv(analysis))
    if analysis.claims:
        write_whole(folder / "verdicts.csv", verdicts_csv(analysis.claims))
        write_whole(folder / "claims.csv", claims_csv(analysis.claims))
    write_whole(folder / "summary.md", to_markdown(view))
    write_whole(folder / "report.html", to_html(view))
