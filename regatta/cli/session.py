"""A race as a person sees it: begun or resumed, shown while it runs, and its results."""

from pathlib import Path

import typer

from regatta.analysis.analyse import analyse
from regatta.analysis.results import Analysis
from regatta.cli.display import display_on
from regatta.cli.hooks import HOOKS
from regatta.cli.output import Output, print_json
from regatta.errors import InterruptedRaceError, UsageError
from regatta.ledger.files import find_unfinished
from regatta.ledger.read import read, read_failures
from regatta.ledger.schema import FILE_NAME
from regatta.machine.programs import Programs, called_with, discover, shown
from regatta.race.events import Display, Event, SearchStarted, Started
from regatta.race.folder import RACES
from regatta.race.options import Options
from regatta.race.race import begin, reopen
from regatta.report.files import write_files
from regatta.report.json_summary import to_dict
from regatta.report.terminal.explain import print_standings
from regatta.report.terminal.screen import print_screen
from regatta.report.text.trials import unfinished
from regatta.study import find_study, load_study

EXPLAIN = typer.Option(
    "--explain", help="Print every figure with its interval, all sentences and all claims."
)


class RaceSession:
    """One call of `regatta race`: where its output goes, and which folder it races in."""

    def __init__(self, as_json: bool, quiet: bool, explain: bool = False) -> None:
        if as_json and explain:
            raise UsageError("--json and --explain cannot be combined: the JSON has everything")
        self.as_json = as_json
        self.quiet = quiet
        self.explain = explain
        # With --json the standard output is for the JSON alone.
        self.console = Output(stderr=as_json)
        self.folder: Path | None = None

    def say(self, line: str) -> None:
        """One line, however long: somebody may copy a path out of it."""
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)


def resume(study: str | None, programs: Programs, display: Display) -> Path:
    """Goes on with a race: one named by its folder, or the newest unfinished of a study."""
    if study is not None and Path(study).is_dir():
        return reopen(Path(study), None, programs, display, HOOKS)
    wanted = load_study(find_study(study or "quick"), programs.designs)
    folder = find_unfinished(RACES, wanted.name)
    return reopen(folder, wanted, programs, display, HOOKS)


def run_race(study: str | None, resumes: bool, options: Options, session: RaceSession) -> Path:
    """Races with the display that fits, and turns Ctrl-C into an end that says how to go on."""
    if resumes and options != Options():
        raise UsageError(
            "a resumed race keeps its options; leave out all but --resume, --json, --explain and "
            "--quiet"
        )
    programs = discover()
    display = display_on(session.console, session.quiet)

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
            return begin(study_read, options, programs, tell, HOOKS)
    except KeyboardInterrupt as error:
        if session.folder is None:
            raise InterruptedRaceError("interrupted before anything started") from error
        raise InterruptedRaceError(
            "interrupted; finished trials are kept. Continue with: "
            f"{called_with('race', '--resume', shown(session.folder))}"
        ) from error


def analysis_of(folder: Path) -> Analysis:
    return analyse(read(folder / FILE_NAME))


def show_results(analysis: Analysis, folder: Path, session: RaceSession) -> None:
    """Writes the report, and prints the results and where to find more of them."""
    write_files(analysis, folder)
    if session.as_json:
        print_json(to_dict(analysis))
        return
    if session.explain:
        print_standings(analysis, session.console)
    else:
        print_screen(analysis, session.console)
        session.say(f"more:   {called_with('report', shown(folder), '--explain')}")
    if unfinished(analysis):
        session.say(f"resume: {called_with('race', '--resume', shown(folder))}")
    session.say(f"report: {shown(folder) / 'report.html'}")


def failed_trials(folder: Path) -> list[str]:
    return read_failures(folder / FILE_NAME)
