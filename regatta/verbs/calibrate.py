"""`regatta calibrate`: measure how often Regatta's verdicts are wrong on this machine."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from regatta.checks.calibrate import equals, power, store
from regatta.checks.calibrate.goals import Context
from regatta.checks.calibrate.instruments import STOPPED, WINDOW
from regatta.checks.calibrate.run import choose, newest_folder, run
from regatta.errors import CalibrationError, GoalsMissedError, InterruptedRaceError, UsageError
from regatta.measure.programs import called_with, discover, shown
from regatta.measure.race.folder import new_folder
from regatta.measure.race.options import Options
from regatta.measure.race.race import race_with
from regatta.record.inputs import (
    NOT_MEASURED,
    Calibration,
    to_plain,
)
from regatta.show.environment import goals_table, headline
from regatta.show.terminal import draw_table
from regatta.show.text import duration
from regatta.verbs.display import display_on
from regatta.verbs.output import Output, print_json, say
from regatta.verbs.session import HOOKS

PARTS = (equals.PART, power.PART, STOPPED, WINDOW)
SHAPE = "quick"
MOST_RACES = 1_000


def calibrate(  # noqa: PLR0913, PLR0917  (one parameter an option)
    show: Annotated[
        bool, typer.Option("--show", help="Show the stored result; measure nothing.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the goals as JSON, progress on stderr.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Run every step with very little data, in minutes. Stores nothing."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the races. Continues a calibration that was stopped there.",
            show_default="races/calibration-TIME",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Run only this part; repeatable. Stores nothing."),
    ] = None,
    races: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MOST_RACES,
            help="Races of equal copies, and of slowed servers, one to two minutes each. A higher "
            "number with the same --out adds races; 0 skips them.",
            show_default="40 and 10",
        ),
    ] = None,
    shape: Annotated[
        str,
        typer.Option(
            help="Study whose blocks, slices and cells these races use: a name or a file. Only "
            "quick is stored."
        ),
    ] = SHAPE,
    inject: Annotated[
        str | None,
        typer.Option(
            help="Inject an error that a goal must detect. Into the analysis: requests (treated as "
            "independent), peek (stop when significant) or closed-load (omits waiting clients). "
            "Into the races: bias=2% or bias=5% (favours one of two equals, at random in each "
            "race), place=2% (the first in the study is slower) or drift (equals drift apart and "
            "back). Uses the races of --out or of the newest calibration. Stores nothing."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Measure how often Regatta's verdicts are wrong on this machine.

    Each part measures a known truth: equal copies of four designs in fresh races (false alarms), a
    server slowed by a known amount (power), a server stopped for a known time (coordinated
    omission). All reports of this machine then quote the result.

    It takes one to three hours on a quiet machine. Ctrl-C stops it; the same --out continues. Exit
    status: 1 if a goal is missed, else 0.

    [bold]Examples[/]

      regatta calibrate                     measure, show and store the goals
      regatta calibrate --show              the stored goals of this machine
      regatta calibrate --quick             every step, in a few minutes
      regatta calibrate --out races/calibration-20260101-120000
      regatta calibrate --only window       the time that is counted, 15 seconds
      regatta calibrate --only equals --races 40 --out races/aa
      regatta calibrate --inject requests   a wrong analysis: must miss a goal
      regatta calibrate --inject bias=2%    biased races: must miss a goal
      regatta calibrate --json > goals.json
    """
    if show:
        if quick or out or only or inject or races is not None or shape != SHAPE:
            raise UsageError("--show measures nothing; with it only --json may be given")
        show_stored(as_json)
        return
    session = CalibrationSession(out, quick, quiet, shape, races)
    calibration = measure(session, only or [], inject)
    present(calibration, as_json)
    if not (quick or only or inject or shape != SHAPE):
        store.save(calibration)
    judge(calibration)


@dataclass
class CalibrationSession:
    """Where one calibration keeps its races and shows its progress."""

    out: Path | None
    quick: bool
    quiet: bool
    shape: str
    races: int | None
    # stdout is for the table or the JSON alone.
    console: Console = field(default_factory=lambda: Output(stderr=True))
    folder: Path | None = None

    def say(self, text: str) -> None:
        if not self.quiet:
            say(self.console, text)


def measure(session: CalibrationSession, only: list[str], inject: str | None) -> Calibration:
    """Runs the parts. After Ctrl-C the error says how to continue."""
    parts = choose(PARTS, only, inject)
    session.folder = (session.out or new_folder("calibration")).absolute()
    if inject and session.out is None:
        # An injected error is applied to races that exist.
        session.folder = newest_folder(session.quick) or session.folder
    session.say(f"the races are in {session.folder}")
    if not session.quick and inject is None:
        whole_s = sum(part.expected_s(session.races) for part in parts)
        length = duration(whole_s)
        session.say(f"this takes about {length} on two fast CPUs, twice that on slow ones")
    try:
        return run(parts, make_context(session, inject), session.say)
    except KeyboardInterrupt as error:
        raise InterruptedRaceError(
            "interrupted; finished races are kept. Continue with: "
            f"{called_with('calibrate', *repeated_options(session, only))}"
        ) from error


def repeated_options(session: CalibrationSession, only: list[str]) -> list[str | Path]:
    """The options to repeat when the calibration is continued."""
    assert session.folder is not None
    words: list[str | Path] = ["--quick"] if session.quick else []
    words += [word for name in only for word in ("--only", name)]
    words += [] if session.races is None else ["--races", str(session.races)]
    words += [] if session.shape == SHAPE else ["--shape", session.shape]
    return [*words, "--out", shown(session.folder)]


def make_context(session: CalibrationSession, inject: str | None) -> Context:
    assert session.folder is not None
    programs, options = discover(), Options()
    display = partial(display_on, session.console, session.quiet)
    return Context(
        programs=programs,
        folder=session.folder,
        options=options,
        quick=session.quick,
        inject=inject,
        say=session.say,
        race=race_with(programs, options, display, HOOKS),
        shape=session.shape,
        races=session.races,
    )


def show_stored(as_json: bool) -> None:
    stored = store.load()
    if stored is None:
        raise CalibrationError("this machine is not calibrated; run `regatta calibrate`")
    present(stored, as_json)
    judge(stored)


def present(calibration: Calibration, as_json: bool) -> None:
    if as_json:
        print_json(to_plain(calibration))
        return
    console = Output()
    say(console, headline(calibration))
    draw_table(goals_table(calibration.goals), [], console)


def judge(calibration: Calibration) -> None:
    """Raises GoalsMissedError, exit status 1, if a goal is missed; one that is only undecided is
    not."""
    missed = calibration.missed
    if missed:
        names = ", ".join(goal.name for goal in missed)
        raise GoalsMissedError(f"{len(missed)} of {len(calibration.goals)} goals missed: {names}")
    if calibration.outcome == NOT_MEASURED:
        raise GoalsMissedError("no goal could be measured on this machine")
