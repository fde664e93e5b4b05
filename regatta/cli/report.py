"""`regatta report`: write the report of a race again."""

from pathlib import Path
from typing import Annotated

import typer

from regatta.cli.exports import EXPORT
from regatta.cli.output import Output, print_json
from regatta.cli.session import EXPLAIN, RaceSession, analysis_of, show_results
from regatta.errors import UsageError
from regatta.ledger.schema import FILE_NAME
from regatta.machine import environment
from regatta.race.folder import RACES
from regatta.report.exports.write import parse_exports, write_exports
from regatta.report.near import SAME_MACHINE, Asked, near_json, parse_near, print_near
from regatta.report.near import near as near_groups


def report(  # noqa: PLR0913, PLR0917  (one parameter an option)
    folder: Annotated[
        Path | None,
        typer.Argument(help="The folder of a race, or its ledger.", show_default=False),
    ] = None,
    near: Annotated[
        str | None,
        typer.Option(
            metavar="LOAD",
            help="Instead of a race: what the finished races of this machine say about a load, "
            "within a factor of 2: connections, rate, idle; also work, load, dialect.",
            show_default=False,
        ),
    ] = None,
    races: Annotated[Path, typer.Option(help="The races that --near searches.")] = RACES,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    explain: Annotated[bool, EXPLAIN] = False,
    pictures: Annotated[
        Path | None,
        typer.Option(
            help="Also write each chart into this folder, as NAME.png and NAME-dark.png.",
            show_default=False,
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            help="Also write a paper into this folder: report.md, .tex and .pdf, each table as "
            "NAME.md, .csv and .tex, each plot as NAME.svg and .pdf.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[list[str] | None, EXPORT] = None,
) -> None:
    """Write the report of a race again and print its results.

    The report is report.html, summary.md and summary.csv in the folder of the race.

    [bold]Examples[/]

      regatta report races/quick-20260101-120000
      regatta report races/quick-20260101-120000 --explain
      regatta report races/quick-20260101-120000 --json
      regatta report races/quick-20260101-120000 --pictures docs/pictures
      regatta report races/quick-20260101-120000 --tables paper
      regatta report races/quick-20260101-120000 --export otava:history.json
      regatta report --near connections=1000,rate=5000
    """
    if near is not None:
        if folder or explain or pictures or tables or export:
            raise UsageError("--near searches all races: with it only --races and --json count")
        show_near(parse_near(near), races, as_json)
        return
    if folder is None:
        raise UsageError("name the folder of a race, or a load with --near")
    race_folder = (folder.parent if folder.name == FILE_NAME else folder).absolute()
    session = RaceSession(as_json, quiet=True, explain=explain)
    exports = parse_exports(export or [])
    analysis = analysis_of(race_folder)
    show_results(analysis, race_folder, session)
    write_exports(analysis, exports)
    # Both import altair, which takes 0.3 s.
    if pictures is not None:
        from regatta.report.pictures import write_pictures  # noqa: PLC0415

        count = len(write_pictures(analysis, pictures))
        session.say(f"pictures: {count} in {pictures}")
    if tables is not None:
        from regatta.report.paper.document import paper_document  # noqa: PLC0415
        from regatta.report.paper.files import write_document  # noqa: PLC0415

        count = len(write_document(paper_document(analysis), tables))
        session.say(f"tables and plots: {count} files in {tables}")


def show_near(asked: Asked, races: Path, as_json: bool) -> None:
    machine = {name: environment.facts()[name]() for name in SAME_MACHINE}
    found, notes = near_groups(asked, races, machine)
    if as_json:
        print_json(near_json(found, notes))
    else:
        print_near(found, notes, races, Output())
