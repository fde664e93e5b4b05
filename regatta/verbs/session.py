"""Runs or resumes a race with its display, and shows its results."""

from pathlib import Path

import typer

from regatta.checks.calibrate import store
from regatta.checks.doctor.examine import serious
from regatta.checks.doctor.finding import RaceSetup
from regatta.errors import HopelessRaceError, InterruptedRaceError, UsageError
from regatta.judge.analyse import analyse
from regatta.judge.power import claims_power_note, reason_to_stop, standings_power_note
from regatta.judge.results import Analysis
from regatta.judge.statistics.blocks_needed import quick_note, too_few_note
from regatta.measure.places.sides import Placement
from regatta.measure.programs import Programs, called_with, discover, shown
from regatta.measure.race.events import Display, Event, SearchStarted, Started
from regatta.measure.race.folder import RACES
from regatta.measure.race.options import Hooks, Options
from regatta.measure.race.race import begin, reopen
from regatta.record.files import find_unfinished
from regatta.record.read import read
from regatta.record.schema import FILE_NAME
from regatta.record.study import Study, find_study, load_study
from regatta.record.study.limits import HOSTS
from regatta.show.build import view_of
from regatta.show.html import write_files
from regatta.show.json_summary import to_dict
from regatta.show.terminal import print_screen, print_view
from regatta.show.trials import unfinished
from regatta.verbs.display import display_on
from regatta.verbs.output import Output, print_json, say


def spoilers(study: Study, placement: Placement) -> dict[str, str]:
    """The serious findings of the doctor for this race."""
    if placement.kind == HOSTS:
        return {}  # `regatta doctor STUDY` examines remote hosts
    most = max(cell.connections + cell.idle + cell.slow for cell in study.cells)
    groups = placement.server.groups is not None
    return serious(
        RaceSetup(
            placement.server.cpus,
            placement.client.cpus,
            placement.kind,
            most,
            groups,
            placement.steering,
            placement.network,
        )
    )


def unseen(study: Study) -> tuple[str, ...]:
    """Notes on what the verdicts of the study cannot show."""
    notes = (
        quick_note(study),
        too_few_note(study),
        standings_power_note(study),
        claims_power_note(study),
    )
    return tuple(note for note in notes if note)


HOOKS = Hooks(spoilers=spoilers, unseen=unseen, calibration=store.for_ledger, enough=reason_to_stop)


EXPLAIN = typer.Option(
    "--explain", help="Print every figure with its interval, all sentences and claims."
)


class RaceSession:
    """Where the output of one `regatta race` goes, and the folder of its race."""

    def __init__(self, as_json: bool, quiet: bool, explain: bool = False) -> None:
        if as_json and explain:
            raise UsageError("--json and --explain cannot be combined: the JSON has all figures")
        self.as_json = as_json
        self.quiet = quiet
        self.explain = explain
        # With --json stdout is for the JSON alone.
        self.console = Output(stderr=as_json)
        self.folder: Path | None = None

    def say(self, line: str) -> None:
        say(self.console, line)

    def progress(self, line: str) -> None:
        """Beside the progress display."""
        say(self.console if self.console.is_terminal else Output(stderr=True), line)


def resume(study: str | None, programs: Programs, display: Display) -> Path:
    """Continues the race in a folder, or the newest unfinished race of a study."""
    if study is not None and Path(study).is_dir():
        return reopen(Path(study), None, programs, display, HOOKS)
    wanted = load_study(find_study(study or "quick"), programs.designs)
    folder = find_unfinished(RACES, wanted.name)
    return reopen(folder, wanted, programs, display, HOOKS)


def run_race(study: str | None, resumes: bool, options: Options, session: RaceSession) -> Path:
    """Runs or resumes a race. After Ctrl-C the error says how to continue."""
    if resumes and options != Options():
        raise UsageError(
            "a resumed race keeps its options; only --json, --explain and --quiet may be given "
            "with --resume"
        )
    programs = discover()
    display = display_on(session.console, session.quiet)

    def on_event(event: Event) -> None:
        if isinstance(event, SearchStarted | Started):
            session.folder = event.about.folder
        display(event)

    try:
        with display:
            if resumes:
                return resume(study, programs, on_event)  # type: ignore[arg-type]
            path = find_study(study or "quick")
            study_read = load_study(path, programs.designs)
            return begin(study_read, options, programs, on_event, HOOKS)
    except KeyboardInterrupt as error:
        raise interrupted(session.folder) from error
    except HopelessRaceError as error:
        assert session.folder is not None, "it had begun"
        analysis = analysis_of(session.folder)
        write_files(analysis, view_of(analysis), session.folder)
        raise HopelessRaceError(f"{error}. Report: {shown(session.folder)}/report.html") from error


def interrupted(folder: Path | None) -> InterruptedRaceError:
    """`folder`: of the race that Ctrl-C stopped; None: it had none yet."""
    if folder is None:
        return InterruptedRaceError("interrupted before anything started")
    return InterruptedRaceError(
        "interrupted; finished trials are kept. Continue with: "
        f"{called_with('race', '--resume', shown(folder))}"
    )


def analysis_of(folder: Path) -> Analysis:
    return analyse(read(folder / FILE_NAME))


def show_results(analysis: Analysis, folder: Path, session: RaceSession) -> None:
    """Writes the report, prints the results and says where to find more."""
    view = view_of(analysis)
    write_files(analysis, view, folder)
    if session.as_json:
        print_json(to_dict(analysis))
        return
    if session.explain:
        print_view(view, session.console)
    else:
        print_screen(view, session.console)
        session.say(f"more:   {called_with('report', shown(folder), '--explain')}")
    if unfinished(analysis):
        session.say(f"resume: {called_with('race', '--resume', shown(folder))}")
    session.say(f"report: {shown(folder) / 'report.html'}")
