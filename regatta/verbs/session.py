"""Runs or resumes a race with its display, and shows its results."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from regatta.checks.calibrate import goals
from regatta.errors import HopelessRaceError, InterruptedRaceError, UsageError
from regatta.judge.analyse import analyse
from regatta.judge.power import reason_to_stop, standings_power_note
from regatta.judge.results import Analysis
from regatta.judge.statistics.blocks_needed import quick_note, too_few_note
from regatta.measure.places.sides import Placement
from regatta.measure.programs import called_with, shown
from regatta.measure.race import events as ev
from regatta.measure.race.options import Hooks
from regatta.record.read import read
from regatta.record.schema import FILE_NAME
from regatta.record.study import Study
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
    # They take 0.1 s, and a report needs none.
    from regatta.checks.doctor.examine import serious  # noqa: PLC0415
    from regatta.checks.doctor.finding import RaceSetup  # noqa: PLC0415

    if placement.kind == HOSTS:
        return {}  # `regatta doctor STUDY` examines remote hosts
    most = max(cell.connections + cell.idle + cell.slow for cell in study.cells)
    return serious(RaceSetup.of(placement, most))


def unseen(study: Study) -> tuple[str, ...]:
    """Notes on what the verdicts of the study cannot show."""
    found = (quick_note, too_few_note, standings_power_note)
    return tuple(note for about in found if (note := about(study)))


HOOKS = Hooks(spoilers=spoilers, unseen=unseen, calibration=goals.for_ledger, enough=reason_to_stop)


class RaceSession:
    """Where the output of one verb goes, and the folder of its race."""

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

    def again(self) -> str:
        """The command that continues its race."""
        if self.folder is None:
            raise InterruptedRaceError("interrupted before anything started")
        return called_with("race", "--resume", shown(self.folder))


@contextmanager
def stoppable(what_stays: str, again: Callable[[], str]) -> Iterator[None]:
    """After Ctrl-C the error says what is kept, and the command that continues."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise InterruptedRaceError(
            f"interrupted; {what_stays}. Continue with: {again()}"
        ) from error


def raced(
    race: Callable[[ev.Tell], Path], session: RaceSession, ends_s: float | None = None
) -> Path:
    """Runs a race with its display and returns its folder.

    `ends_s`: when it will be over, by time.monotonic(), whatever is left.
    """
    display = display_on(session.console, session.quiet)

    def on_event(event: ev.Event) -> None:
        if isinstance(event, ev.SearchStarted | ev.Started):
            session.folder = event.about.folder
        if ends_s is not None and isinstance(event, ev.Searched | ev.TrialFinished):
            left_s = max(0.0, ends_s - time.monotonic())
            event = replace(event, left_s=min(event.left_s, left_s))
        display(event)

    try:
        with stoppable("finished trials are kept", session.again), display:
            return race(on_event)
    except HopelessRaceError as error:
        assert session.folder is not None, "it had begun"
        written(session.folder)
        raise HopelessRaceError(f"{error}. Report: {shown(session.folder)}/report.html") from error


def analysis_of(folder: Path) -> Analysis:
    return analyse(read(folder / FILE_NAME))


def written(folder: Path) -> Analysis:
    """The same, and all files of a race that has ended."""
    analysis = analysis_of(folder)
    write_files(analysis, view_of(analysis), folder)
    return analysis


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
