"""The command line: every verb is a thin call of a Python function with the same name."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from regatta import __version__
from regatta.errors import InterruptedRaceError, RegattaError, UsageError
from regatta.events import Event, SearchStarted, Started
from regatta.ledger import FILE_NAME, find_unfinished
from regatta.programs import Programs, discover
from regatta.progress import Display, Lines, LiveDisplay, Silent
from regatta.race import RACES, Options, begin, reopen
from regatta.study import (
    MAX_BLOCKS,
    MAX_SEED,
    MAX_SITTINGS,
    PLACEMENTS,
    STEERINGS,
    find_study,
    load_study,
    parse_cpus,
    parse_pause,
)
from regatta.verbs.advise import advise
from regatta.verbs.calibrate import calibrate
from regatta.verbs.compare import compare
from regatta.verbs.doctor import doctor

EXIT_INTERRUPTED = 130
EXPLAIN = typer.Option(
    "--explain", help="Print every figure with its interval, all sentences and all claims."
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"regatta {__version__}")
        raise typer.Exit


@app.callback()
def regatta(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=show_version, is_eager=True, help="Say the version and end."
        ),
    ] = False,
) -> None:
    """Which server design should I use? Race them on your machine.

    [bold]Examples[/]

      regatta race                      the quick race: three designs, a minute
      regatta race reports              a longer study that ships with the project
      regatta race mine.toml --seed 7   a study of your own, with its order fixed
      regatta race --resume             go on with the newest unfinished race
      regatta report races/quick-…      write the report of a race again
      regatta compare before after      is anything worse than it was?
      regatta advise --connections 100 --work classic    which design for that?
      regatta calibrate                 how often it is wrong on this machine, measured
      regatta doctor                    what on this machine will spoil a race, and its cure
    """


class Session:
    """One call of `regatta race`: where its output goes, and which folder it races in."""

    def __init__(self, as_json: bool, quiet: bool, explain: bool = False) -> None:
        if as_json and explain:
            raise UsageError("--json and --explain exclude each other: the JSON has all of it")
        self.as_json = as_json
        self.quiet = quiet
        self.explain = explain
        # With --json the standard output is for the JSON alone.
        self.console = Console(stderr=as_json)
        self.folder: Path | None = None

    def say(self, line: str) -> None:
        """One line, however long: somebody may copy a path out of it."""
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def display(self) -> Display:
        if self.quiet:
            return Silent()
        if self.console.is_terminal:
            return LiveDisplay(self.console, standings_of)
        return Lines(self.console)


def standings_of(started: Started) -> Any:
    """What the live display calls for the standings so far."""
    from regatta.analysis import quick_standings  # noqa: PLC0415  (heavy: only for a display)

    path = started.about.folder / FILE_NAME
    return lambda: quick_standings(path)


def positive(option: str, value: int | None, high: int, low: int = 1) -> None:
    if value is not None and not low <= value <= high:
        raise UsageError(f"{option} is {value}; it must be a whole number from {low} to {high}")


def read_options(  # noqa: PLR0913, PLR0917  (one for each option of the verb)
    seed: int | None,
    blocks: int | None,
    sittings: int | None,
    pause: str | None,
    out: Path | None,
    placement: str | None,
    server_cpus: str | None,
    client_cpus: str | None,
    steering: str | None,
    use_perf: bool,
) -> Options:
    positive("--seed", seed, MAX_SEED, low=0)
    positive("--blocks", blocks, MAX_BLOCKS)
    positive("--sittings", sittings, MAX_SITTINGS)
    for option, value, allowed in (
        ("--placement", placement, PLACEMENTS),
        ("--steering", steering, STEERINGS),
    ):
        if value is not None and value not in allowed:
            raise UsageError(f"{option} is {value}; it must be one of {', '.join(allowed)}")
    return Options(
        out=out,
        seed=seed,
        blocks=blocks,
        sittings=sittings,
        pause_s=None if pause is None else parse_pause(pause, "--pause"),
        placement=placement,
        server_cpus=None if server_cpus is None else parse_cpus(server_cpus, "--server-cpus"),
        client_cpus=None if client_cpus is None else parse_cpus(client_cpus, "--client-cpus"),
        steering=steering,
        use_perf=use_perf,
    )


def resume(study: str | None, programs: Programs, display: Display) -> Path:
    """Goes on with a race: one named by its folder, or the newest unfinished of a study."""
    if study is not None and Path(study).is_dir():
        return reopen(Path(study), None, programs, display)
    wanted = load_study(find_study(study or "quick"), programs.designs)
    folder = find_unfinished(RACES, wanted.name)
    return reopen(folder, wanted, programs, display)


def run_race(study: str | None, resumes: bool, options: Options, session: Session) -> Path:
    """Races with the display that fits, and turns Ctrl-C into an end that says how to go on."""
    if resumes and options != Options():
        raise UsageError(
            "a resumed race keeps what it was begun with; leave out every option but --resume, "
            "--json, --explain and --quiet"
        )
    programs = discover()
    display = session.display()

    def tell(event: Event) -> None:
        if isinstance(event, SearchStarted | Started):
            session.folder = event.about.folder
        display(event)

    try:
        with display:
            if resumes:
                return resume(study, programs, tell)  # type: ignore[arg-type]
            path = find_study(study or "quick")
            return begin(load_study(path, programs.designs), options, programs, tell)
    except KeyboardInterrupt as error:
        if session.folder is None:
            raise InterruptedRaceError("interrupted; nothing was begun") from error
        folder = shown(session.folder)
        raise InterruptedRaceError(
            f"interrupted; what was finished is kept. Go on with: regatta race --resume {folder}"
        ) from error


def shown(path: Path) -> Path:
    """The path as a person would type it here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def show_results(folder: Path, session: Session) -> None:
    """Writes the report, and prints the results and where to find more of them."""
    from regatta import report as reports  # noqa: PLC0415  (heavy: charts and statistics)

    path = folder / FILE_NAME
    reports.write(path)
    if session.as_json:
        typer.echo(json.dumps(reports.summary_json(path), ensure_ascii=False, indent=2))
        return
    if session.explain:
        reports.explain(path, session.console)
    else:
        reports.screen(path, session.console)
        session.say(f"more:   regatta report {shown(folder)} --explain")
    session.say(f"report: {shown(folder) / 'report.html'}")


@app.command()
def race(  # noqa: PLR0913, PLR0917  (each parameter is an option that a person may type)
    study: Annotated[
        str | None,
        typer.Argument(
            help="A study: a TOML file, or the name of one that ships (quick, reports). "
            "With --resume also the folder of a race.",
            show_default="quick",
        ),
    ] = None,
    resumes: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the race in the named folder, or with the newest unfinished one.",
        ),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Fixes the random order; else one is chosen and recorded.")
    ] = None,
    blocks: Annotated[
        int | None, typer.Option(help="Timed trials of each cell, in place of the study's.")
    ] = None,
    sittings: Annotated[
        int | None,
        typer.Option(
            help="Race all of it so often, each time with servers linked in another order, another "
            "size of the environment and fresh networks: how far builds and hours differ."
        ),
    ] = None,
    pause: Annotated[
        str | None,
        typer.Option(help="Rest between two sittings: 10min, 1h. Or stop, and --resume later."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the ledger and report.", show_default="races/NAME-TIME"),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(help="auto, netns (two networks joined by a cable) or loopback."),
    ] = None,
    server_cpus: Annotated[
        str | None, typer.Option(help="CPUs of the server: 0 or 0,2 or 2-5.")
    ] = None,
    client_cpus: Annotated[str | None, typer.Option(help="CPUs of the client.")] = None,
    steering: Annotated[
        str | None,
        typer.Option(
            help="own-side (packets are processed on the CPUs of the side that they are for, where "
            "that is permitted) or none.",
            show_default="own-side",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as JSON, the progress on stderr.")
    ] = False,
    explain: Annotated[bool, EXPLAIN] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    no_perf: Annotated[
        bool, typer.Option("--no-perf", help="Count with the kernel's own accounting only.")
    ] = False,
) -> None:
    """Race the designs of a study and say which one won, by how much, and how sure that is.

    Ctrl-C stops cleanly: finished trials are kept, and --resume goes on from there. A trial whose
    CPUs others took is marked and run again; where most are, end what else runs: `regatta doctor`.

    [bold]Examples[/]

      regatta race                            the quick race, about a minute
      regatta race reports --blocks 5         a shipped study, with fewer trials
      regatta race mine.toml --seed 7         a study of your own, order fixed
      regatta race reports --sittings 5       does it hold in other builds and hours?
      regatta race --server-cpus 2 --client-cpus 3
      regatta race --resume                   the newest unfinished quick race
      regatta race --resume races/reports-20260101-120000
      regatta race --json --quiet > result.json
    """
    session = Session(as_json, quiet, explain)
    options = read_options(
        seed,
        blocks,
        sittings,
        pause,
        out,
        placement,
        server_cpus,
        client_cpus,
        steering,
        use_perf=not no_perf,
    )
    folder = run_race(study, resumes, options, session)
    show_results(folder, session)
    failures = failed_trials(folder)
    if failures:
        raise RegattaError(
            f"{len(failures)} trials failed and are in no average; the report says why"
        )


def failed_trials(folder: Path) -> list[str]:
    from regatta.ledger_read import read_failures  # noqa: PLC0415  (heavy: numpy)

    return read_failures(folder / FILE_NAME)


@app.command()
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
) -> None:
    """Write report.html, summary.md and summary.csv of a race again, and print who won.

    [bold]Examples[/]

      regatta report races/quick-20260101-120000
      regatta report races/quick-20260101-120000 --explain
      regatta report races/quick-20260101-120000 --json
      regatta report races/quick-20260101-120000 --pictures docs/pictures
    """
    place = folder.parent if folder.name == FILE_NAME else folder
    session = Session(as_json, quiet=True, explain=explain)
    failed_trials(place)
    show_results(place.absolute(), session)
    if pictures is not None:
        draw(place.absolute(), pictures, session)


def draw(folder: Path, into: Path, session: Session) -> None:
    from regatta import report as reports  # noqa: PLC0415  (heavy: charts and statistics)

    count = len(reports.pictures(folder / FILE_NAME, into))
    session.say(f"pictures: {count} in {into}")


app.command()(compare)
app.command()(advise)
app.command()(calibrate)
app.command()(doctor)


def fail(message: str, status: int) -> NoReturn:
    """One line on the standard error, whatever the message was."""
    line = " ".join(message.split())
    print(f"regatta: {line}", file=sys.stderr)
    sys.exit(status)


def failure_status(status: int = RegattaError.exit_status) -> int:
    """What a failure ends with; of `compare` 1 means a regression, and nothing else may."""
    failed = status == RegattaError.exit_status
    return UsageError.exit_status if failed and sys.argv[1:2] == ["compare"] else status


def main() -> None:
    """The program: errors become one line and an exit status, never a traceback."""
    command = typer.main.get_command(app)
    try:
        status = command.main(standalone_mode=False, prog_name="regatta")
    except RegattaError as error:
        fail(str(error), failure_status(error.exit_status))
    except KeyboardInterrupt:
        fail("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone (`regatta report … | head`): end without a word, as others do.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(failure_status())
    except OSError as error:
        named = f": {error.filename}" if error.filename else ""
        fail(f"{error.strerror or error}{named}; correct that and try again", failure_status())
    except Exception as error:
        # typer's own complaints about options know how to put themselves into words; the class
        # has another home in each version.
        describe = getattr(error, "format_message", None)
        if describe is not None:
            told = describe().rstrip(".") or "no command was named"
            fail(f"{told}; see regatta --help", UsageError.exit_status)
        if type(error).__name__ == "Abort":
            fail("interrupted", EXIT_INTERRUPTED)
        told = f"an error in Regatta itself ({type(error).__name__}: {error}); please report it"
        fail(told, failure_status())
    sys.exit(status or 0)


if __name__ == "__main__":
    main()
