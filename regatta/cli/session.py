"""A race as a person sees it: begun or resumed, shown while it runs, and its results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from regatta.cli.advisers import ADVISERS
from regatta.cli.progress import Lines, LiveDisplay, Silent
from regatta.errors import InterruptedRaceError, UsageError
from regatta.ledger.write import FILE_NAME, find_unfinished
from regatta.machine.programs import Programs, discover
from regatta.race.events import Display, Event, SearchStarted, Started
from regatta.race.folder import RACES
from regatta.race.options import Options
from regatta.race.race import begin, reopen
from regatta.study import find_study, load_study

EXPLAIN = typer.Option(
    "--explain", help="Print every figure with its interval, all sentences and all claims."
)


class Session:
    """One call of `regatta race`: where its output goes, and which folder it races in."""

    def __init__(self, as_json: bool, quiet: bool, explain: bool = False) -> None:
        if as_json and explain:
            raise UsageError("--json and --explain exclude each other: the JSON has everything")
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
        return display_on(self.console, self.quiet)


def display_on(console: Console, quiet: bool) -> Display:
    if quiet:
        return Silent()
    if console.is_terminal:
        return LiveDisplay(console, standings_of)
    return Lines(console)


def standings_of(started: Started) -> Any:
    """What the live display calls for the standings so far."""
    from regatta.analysis.quick import quick_standings  # noqa: PLC0415  (heavy: only for a display)

    path = started.about.folder / FILE_NAME
    return lambda: quick_standings(path)


def resume(study: str | None, programs: Programs, display: Display) -> Path:
    """Goes on with a race: one named by its folder, or the newest unfinished of a study."""
    if study is not None and Path(study).is_dir():
        return reopen(Path(study), None, programs, display, ADVISERS)
    wanted = load_study(find_study(study or "quick"), programs.designs)
    folder = find_unfinished(RACES, wanted.name)
    return reopen(folder, wanted, programs, display, ADVISERS)


def run_race(study: str | None, resumes: bool, options: Options, session: Session) -> Path:
    """Races with the display that fits, and turns Ctrl-C into an end that says how to go on."""
    if resumes and options != Options():
        raise UsageError(
            "a resumed race keeps its options; leave out all but --resume, --json, --explain and "
            "--quiet"
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
            study_read = load_study(path, programs.designs)
            return begin(study_read, options, programs, tell, ADVISERS)
    except KeyboardInterrupt as error:
        if session.folder is None:
            raise InterruptedRaceError("interrupted before anything started") from error
        folder = shown(session.folder)
        raise InterruptedRaceError(
            f"interrupted; finished trials are kept. Continue with: regatta race --resume {folder}"
        ) from error


def shown(path: Path) -> Path:
    """The path as a person would type it here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def show_results(folder: Path, session: Session) -> None:
    """Writes the report, and prints the results and where to find more of them."""
    from regatta.report import report as reports  # noqa: PLC0415  (heavy: charts and statistics)

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


def failed_trials(folder: Path) -> list[str]:
    from regatta.ledger.read import read_failures  # noqa: PLC0415  (heavy: numpy)

    return read_failures(folder / FILE_NAME)
