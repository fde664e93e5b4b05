"""`regatta calibrate`: measure how often Regatta's verdicts are wrong on this machine."""

from functools import partial
from pathlib import Path

import typer

from regatta.checks.calibrate import equals, goals, power
from regatta.checks.calibrate.goals import Context
from regatta.checks.calibrate.instruments import STOPPED, WINDOW
from regatta.checks.calibrate.run import choose, newest_folder, run
from regatta.errors import CalibrationError, GoalsMissedError, UsageError
from regatta.measure.programs import called_with, discover, shown
from regatta.measure.race.options import Options
from regatta.measure.race.race import race_with
from regatta.record.files import new_folder
from regatta.record.inputs import NOT_MEASURED, Calibration, to_plain
from regatta.show.environment import goals_table, headline
from regatta.show.terminal import draw_table
from regatta.show.text import duration
from regatta.verbs.display import display_on
from regatta.verbs.output import QUIET, Output, options, print_json, say
from regatta.verbs.session import HOOKS, stoppable

PARTS = (equals.PART, power.PART, STOPPED, WINDOW)
"""Of a whole calibration."""
MOST_RACES = 1_000


@options(
    show="Show the stored result; measure nothing.",
    json="Print the goals as JSON, progress on stderr.",
    quick="Run every step with very little data, in minutes. Stores nothing.",
    out=typer.Option(
        help="Folder for the races. Continues a calibration that was stopped there.",
        show_default="races/calibration-TIME",
    ),
    only="Run only this part; repeatable. Stores nothing.",
    races=typer.Option(
        min=0,
        max=MOST_RACES,
        help="Races of equal copies, and of slowed servers, one to two minutes each. A higher "
        "number with the same --out adds races; 0 skips them.",
        show_default="40 and 10",
    ),
    inject="Inject an error that a goal must detect. Into the analysis: requests (treated as "
    "independent), peek (stop when significant) or closed-load (omits waiting clients). Into the "
    "races: bias=2% or bias=5% (favours one of two equals, at random in each race), place=2% (the "
    "first in the study is slower) or drift (equals drift apart and back). Uses the races of --out "
    "or of the newest calibration. Stores nothing.",
    quiet=QUIET,
)
def calibrate(  # noqa: PLR0913, PLR0917  (one parameter an option)
    show: bool = False,
    json: bool = False,
    quick: bool = False,
    out: Path | None = None,
    only: list[str] | None = None,
    races: int | None = None,
    inject: str | None = None,
    quiet: bool = False,
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
        if quick or out or only or inject or races is not None:
            raise UsageError("--show measures nothing; with it only --json may be given")
        stored = goals.load()
        if stored is None:
            raise CalibrationError("this machine is not calibrated; run `regatta calibrate`")
        present(stored, json)
        judge(stored)
        return
    console = Output(stderr=True)  # stdout is for the table or the JSON alone

    def tell(text: str) -> None:
        if not quiet:
            say(console, text)

    parts = choose(PARTS, only or [], inject)
    # An injected error is applied to races that exist.
    existing = newest_folder(quick) if inject and out is None else None
    folder = (out or existing or new_folder("calibration")).absolute()
    tell(f"the races are in {folder}")
    if not quick and inject is None:
        length = duration(sum(part.expected_s(races) for part in parts))
        tell(f"this takes about {length} on two fast CPUs, twice that on slow ones")
    programs, settings = discover(), Options()
    context = Context(
        programs=programs,
        folder=folder,
        options=settings,
        quick=quick,
        inject=inject,
        say=tell,
        race=race_with(programs, settings, partial(display_on, console, quiet), HOOKS),
        races=races,
    )
    again = partial(command_again, folder, quick, only or [], races)
    with stoppable("finished races are kept", again):
        calibration = run(parts, context, tell)
    present(calibration, json)
    if not (quick or only or inject):
        goals.save(calibration)
    judge(calibration)


def command_again(folder: Path, quick: bool, only: list[str], races: int | None) -> str:
    """The command that continues a calibration."""
    words = ["--quick"] * quick
    words += [word for name in only for word in ("--only", name)]
    words += [] if races is None else ["--races", str(races)]
    return called_with("calibrate", *words, "--out", shown(folder))


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
    if missed := calibration.missed:
        names = ", ".join(goal.name for goal in missed)
        raise GoalsMissedError(f"{len(missed)} of {len(calibration.goals)} goals missed: {names}")
    if calibration.outcome == NOT_MEASURED:
        raise GoalsMissedError("no goal could be measured on this machine")
