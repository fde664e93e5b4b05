"""`regatta calibrate`: how often this instrument is wrong, measured on this machine."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from regatta.calibrate import store
from regatta.calibrate.goals import Context
from regatta.calibrate.parts import all_parts
from regatta.calibrate.run import choose, newest_folder, run
from regatta.calibrate.table import goals_table
from regatta.cli.display import display_on
from regatta.cli.hooks import HOOKS
from regatta.cli.output import Output, print_json
from regatta.errors import CalibrationError, GoalsMissedError, InterruptedRaceError, UsageError
from regatta.ledger.given.calibration import NOT_MEASURED, Calibration, to_plain
from regatta.machine.programs import called_with, discover, shown
from regatta.race.folder import new_folder
from regatta.race.once import race_with
from regatta.race.options import Options
from regatta.report.text.calibration import headline
from regatta.report.text.durations import duration

SHAPE = "quick"
MOST_RACES = 1_000


def calibrate(  # noqa: PLR0913, PLR0917  (each parameter is an option that a person may type)
    show: Annotated[
        bool, typer.Option("--show", help="Show what is stored for this machine; measure nothing.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the goals as JSON, progress on stderr.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Run every step with very little data, in minutes; nothing is stored."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for its races. A calibration that was stopped there continues.",
            show_default="races/calibration-TIME",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Run only this part; may be repeated. Nothing is stored."),
    ] = None,
    races: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MOST_RACES,
            help="Fresh races of equal copies, and of slowed servers, one to two minutes each. "
            "A higher number with the same --out adds races; 0 skips them.",
            show_default="40 and 10",
        ),
    ] = None,
    shape: Annotated[
        str,
        typer.Option(
            help="The study whose blocks, slices and cells those races use: a name or a file. "
            "Only quick is stored."
        ),
    ] = SHAPE,
    inject: Annotated[
        str | None,
        typer.Option(
            help="Inject an error, to see that it is found. Into the analysis: requests (treated "
            "as independent), independent (blocks treated so), peek (stop when significant), next "
            "(a star compares only the first with the second) or closed-load (clients wait for a "
            "stopped server). Into the lab: bias=2% or bias=5% (one of two equals is favoured, at "
            "random in each race), place=2% (the first in the study is slower), drift (equals "
            "drift apart and back over some blocks). Uses the races of --out, or of the newest "
            "calibration. Nothing is stored."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Measure how often Regatta is wrong on this machine, and keep it for all reports.

    Each part measures something with a known truth: equal copies of four designs in fresh races, a
    server slowed by a known amount, one stopped for a known time. Exit status: 1 if a goal is
    missed. It takes one to three hours on a quiet machine; Ctrl-C stops it, and the same --out
    continues.

    [bold]Examples[/]

      regatta calibrate                       measure, show the table of goals, store it
      regatta calibrate --show                what is stored for this machine
      regatta calibrate --json > goals.json
      regatta calibrate --quick               every step, in a few minutes
      regatta calibrate --out races/calibration-20260101-120000
      regatta calibrate --only equals --races 40 --out races/aa   the A/A alone
      regatta calibrate --inject requests     a wrong analysis: must miss a goal
      regatta calibrate --inject bias=2%      a lab that favours one of two equals: must, too
      regatta calibrate --only counters       perf against the kernel, in half a minute
    """
    if show:
        if quick or out or only or inject or races is not None or shape != SHAPE:
            raise UsageError("--show measures nothing; leave out every option but --json")
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
    """One call of the verb: where it works and what it shows while it does."""

    out: Path | None
    quick: bool
    quiet: bool
    shape: str
    races: int | None
    # The standard output is for the table, or the JSON.
    console: Console = field(default_factory=lambda: Output(stderr=True))
    folder: Path | None = None

    def say(self, text: str) -> None:
        if not self.quiet:
            say(self.console, text)


def measure(session: CalibrationSession, only: list[str], inject: str | None) -> Calibration:
    """Runs the parts; Ctrl-C becomes an end that says how to go on."""
    parts = choose(all_parts(), only, inject)
    session.folder = (session.out or new_folder("calibration")).absolute()
    if inject and session.out is None:
        # A wrong analysis needs no races of its own.
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
            "interrupted; what was finished is kept. Go on with: "
            f"{called_with('calibrate', *repeated_options(session, only))}"
        ) from error


def repeated_options(session: CalibrationSession, only: list[str]) -> list[str | Path]:
    """The options that a calibration which goes on needs once more."""
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
    console.print(goals_table(calibration.goals))
    for goal in calibration.goals:
        if goal.detail:
            say(console, f"{goal.name}: {goal.detail}")


def say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def judge(calibration: Calibration) -> None:
    """The exit status 1 where a goal is missed, with the goals' names. One that is not refuted is
    no failure."""
    missed = calibration.missed
    if missed:
        names = ", ".join(goal.name for goal in missed)
        raise GoalsMissedError(f"{len(missed)} of {len(calibration.goals)} goals missed: {names}")
    if calibration.outcome == NOT_MEASURED:
        raise GoalsMissedError("nothing could be measured here, so nothing is proven")
