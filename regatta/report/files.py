"""The files of a report, all made from one analysis."""

from pathlib import Path

from regatta.analysis.results import Analysis
from regatta.report.claims.csv import claims_csv, verdicts_csv
from regatta.report.csv import to_csv
from regatta.report.markdown import to_markdown
from regatta.report.text.atomic_write import write_whole


def write_files(analysis: Analysis, folder: Path) -> None:
    """report.html, summary.md and summary.csv; with claims also verdicts.csv and claims.csv."""
    # A race that is refused draws nothing, and need not wait for altair, 0.3 s.
    from regatta.report.page.html import to_html  # noqa: PLC0415

    write_whole(folder / "summary.csv", to_csv(analysis))
    if analysis.claims:
        write_whole(folder / "verdicts.csv", verdicts_csv(analysis.claims))
        write_whole(folder / "claims.csv", claims_csv(analysis.claims))
    write_whole(folder / "summary.md", to_markdown(analysis))
    write_whole(folder / "report.html", to_html(analysis))
