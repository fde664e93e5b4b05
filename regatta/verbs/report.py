"""`regatta report`: write the report of a race again."""

from pathlib import Path

import typer

from regatta.errors import UsageError
from regatta.measure import environment
from regatta.record.files import RACES, write_whole
from regatta.record.schema import FILE_NAME
from regatta.show.build import view_of
from regatta.show.near import SAME_MACHINE, near_json, parse_near, print_near
from regatta.show.near import near as near_groups
from regatta.show.pictures import write_pictures
from regatta.show.requests import trace_events
from regatta.show.stacks import folded_stacks
from regatta.verbs.output import EXPLAIN, Output, options, print_json
from regatta.verbs.session import RaceSession, analysis_of, show_results


@options(
    folder=typer.Argument(help="The folder of a race, or its ledger.", show_default=False),
    near=typer.Option(
        metavar="LOAD",
        help="Instead of a race: what the finished races of this machine say about a load, within "
        "a factor of 2: connections, rate, idle; also work, load, dialect.",
        show_default=False,
    ),
    races="The races that --near searches.",
    json="Print the results as JSON.",
    explain=EXPLAIN,
    pictures=typer.Option(
        help="Also write each chart into this folder, as NAME.png and NAME-dark.png.",
        show_default=False,
    ),
    paper=typer.Option(
        help="Also write a paper of a few pages into this folder, as paper.md, .tex and .pdf.",
        show_default=False,
    ),
    profile=typer.Option(
        help="Also write the sampled stacks of a race with --why into this file, folded, as "
        "speedscope, Firefox Profiler, Perfetto and flamegraph.pl read them.",
        show_default=False,
    ),
    trace=typer.Option(
        help="Also write the slowest requests of a race with --why into this file, and what ran "
        "meanwhile, as Perfetto, Chrome and speedscope read it.",
        show_default=False,
    ),
    appendix="With every other table at the end of the paper.",
)
def report(  # noqa: PLR0913, PLR0917  (one parameter an option)
    folder: Path | None = None,
    near: str | None = None,
    races: Path = RACES,
    json: bool = False,
    explain: bool = False,
    pictures: Path | None = None,
    paper: Path | None = None,
    profile: Path | None = None,
    trace: Path | None = None,
    appendix: bool = False,
) -> None:
    """Write the report of a race again and print its results.

    The report is report.html, summary.md and summary.csv in the folder of the race.

    [bold]Examples[/]

      regatta report races/quick-20260101-120000
      regatta report races/quick-20260101-120000 --explain
      regatta report races/quick-20260101-120000 --json
      regatta report races/quick-20260101-120000 --pictures docs/pictures
      regatta report races/quick-20260101-120000 --paper paper --appendix
      regatta report races/quick-20260101-120000 --profile profile.folded
      regatta report races/quick-20260101-120000 --trace slowest.json
      regatta report --near connections=1000,rate=5000
    """
    if near is not None:
        if folder or explain or pictures or paper or profile or trace:
            raise UsageError("--near searches all races: with it only --races and --json count")
        machine = {name: environment.facts()[name]() for name in SAME_MACHINE}
        found, notes = near_groups(parse_near(near), races, machine)
        if json:
            print_json(near_json(found, notes))
        else:
            print_near(found, notes, races, Output())
        return
    if folder is None:
        raise UsageError("name the folder of a race, or a load with --near")
    race_folder = (folder.parent if folder.name == FILE_NAME else folder).absolute()
    if appendix and paper is None:
        raise UsageError("--appendix is that of a paper; name its folder with --paper")
    session = RaceSession(json, quiet=True, explain=explain)
    analysis = analysis_of(race_folder)
    show_results(analysis, race_folder, session)
    if pictures is not None:
        count = len(write_pictures(view_of(analysis).charts(), pictures))
        session.say(f"pictures: {count} in {pictures}")
    for option, path, write in (
        ("profile", profile, folded_stacks),
        ("trace", trace, trace_events),
    ):
        if path is None:
            continue
        if not (text := write(analysis)):
            raise UsageError(f"it has nothing for --{option}; race again with --why")
        write_whole(path, text)
        session.say(f"{option}: {path}")
    if paper is not None:
        # It imports pypandoc, which takes 0.1 s.
        from regatta.show.paper import write_paper  # noqa: PLC0415

        write_paper(view_of(analysis), paper, appendix)
        session.say(f"paper:  {paper / 'paper.pdf'}")
