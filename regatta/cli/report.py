"""`regatta report`: the report of a race, written again."""

from pathlib import Path
from typing import Annotated

import typer

from regatta.cli.session import EXPLAIN, RaceSession, analysis_of, show_results
from regatta.ledger.schema import FILE_NAME
from regatta.report.paper.document import paper_document
from regatta.report.paper.files import write_document
from regatta.report.pictures import write_pictures


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a race, or its ledger.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    explain: Annotated[bool, EXPLAIN] = False,
    pictures: Annotated[
        Path | None,
        typer.Option(
            help="Also write every chart into this folder, as NAME.png and NAME-dark.png.",
            show_default=False,
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            help="Also write every table into this folder as NAME.md, .csv and .tex, the plots as "
            "NAME.svg and .pdf, and all together as report.md, report.tex and report.pdf.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write report.html, summary.md and summary.csv of a race again, and print who won.

    [bold]Examples[/]

      regatta report races/quick-20260101-120000
      regatta report races/quick-20260101-120000 --explain
      regatta report races/quick-20260101-120000 --json
      regatta report races/quick-20260101-120000 --pictures docs/pictures
      regatta report races/quick-20260101-120000 --tables paper
    """
    race_folder = (folder.parent if folder.name == FILE_NAME else folder).absolute()
    session = RaceSession(as_json, quiet=True, explain=explain)
    analysis = analysis_of(race_folder)
    show_results(analysis, race_folder, session)
    if pictures is not None:
        count = len(write_pictures(analysis, pictures))
        session.say(f"pictures: {count} in {pictures}")
    if tables is not None:
        count = len(write_document(paper_document(analysis), tables))
        session.say(f"tables and plots: {count} files in {tables}")
