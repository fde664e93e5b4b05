"""`regatta lab`: a guided hour."""

import sys
from functools import partial
from pathlib import Path

from regatta.measure.programs import discover, shown
from regatta.measure.race.options import Options
from regatta.measure.race.race import race_with
from regatta.record.files import locked
from regatta.record.study import parse_study
from regatta.teach.lab.console import LabScreen
from regatta.teach.lab.report import FILE as ANSWERS
from regatta.teach.lab.report import write_report
from regatta.teach.lab.session import agreed_state, do_again, run_steps, steps_to_repeat
from regatta.teach.lab.state import FOLDER, lab_command
from regatta.teach.lab.step import Lab
from regatta.teach.lab.steps import STEPS
from regatta.teach.lab.tools import find_tools
from regatta.verbs.display import display_on
from regatta.verbs.output import Output, options
from regatta.verbs.session import HOOKS, stoppable


@options(
    yes="Do every step without waiting for Enter.",
    quick="Short races: all steps in a minute.",
    out="Folder of the lab.",
    guess="Your guess: the design with the least server CPU.",
    designs="Designs to compare, separated by commas.",
    connections="Number of concurrent clients.",
    work="Work of each request: classic, snapshot, wait=5ms …",
    again="Repeat this step and those that depend on it; keeps old files.",
    quiet="Hide the progress of races.",
)
def lab(  # noqa: PLR0913, PLR0917  (one parameter an option)
    yes: bool = False,
    quick: bool = False,
    out: Path = FOLDER,
    guess: str | None = None,
    designs: str | None = None,
    connections: int | None = None,
    work: str | None = None,
    again: str | None = None,
    quiet: bool = False,
) -> None:
    """Take a guided hour, from one run by hand to a full race.

    Nine steps: a request by hand; many clients; a CPU for each side; perf stat; a table from one
    run; a guess; ten single runs; a race; what was wrong with the table. Type the commands that it
    shows, or let it run them. Your report with figures and questions is lab/report.md, .html, .tex
    and .pdf; write your answers into lab/answers.md.

    q or Ctrl-C stops at any time; the same command continues.

    [bold]Examples[/]

      regatta lab                 begin, or continue
      regatta lab --again race    repeat a step
      regatta lab --yes --quick --out /tmp/try --guess epoll
      regatta lab --designs iterative,prefork-accept,reactors --connections 50
    """
    if again is not None:
        steps_to_repeat(again)
    given = {
        "designs": designs and tuple(name.strip() for name in designs.split(",")),
        "connections": connections,
        "work": work,
        "quick": quick or None,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    console = Output()
    screen = LabScreen(console, console.is_terminal and sys.stdin.isatty() and not yes)
    programs = discover()
    agreed_state(out, changes, guess, programs, again)  # mistakes, before the folder exists
    with locked(out):
        # Until we had the lock, another `regatta lab` may have changed the folder.
        state = agreed_state(out, changes, guess, programs, again)
        tools = find_tools(programs)
        options = Options(server_cpus=tools.server_cpus, client_cpus=tools.client_cpus)
        race = race_with(programs, options, partial(display_on, console, quiet), HOOKS)

        def race_text(text: str, into: Path) -> Path:
            return race(parse_study(text, programs.designs, out), into)

        lab = Lab(out, state, tools, race_text, screen.ask, screen.say)
        lab.remember()  # it exists from here on
        lab.guess = guess
        if again is not None:
            do_again(lab, again)
        go(lab, screen, yes)


def go(lab: Lab, screen: LabScreen, yes: bool) -> None:
    """Does the remaining steps. If none remain, writes the report again with the new answers."""
    again = lab_command(lab.folder, *(["--yes"] if yes else []))
    with stoppable("finished steps are kept", lambda: again):
        for line in lab.tools.lacks:
            screen.say(line)
        if all(step.name in lab.state.done for step in STEPS):
            write_report(lab, STEPS)
        elif not run_steps(lab, screen):
            screen.line(f"Stopped; finished steps are kept. Continue with: {again}")
            return
    screen.line()
    screen.line(
        f"All steps are done. Answer the questions in {shown(lab.path(ANSWERS))}. To add your "
        f"answers to the report, run: {again}"
    )
    screen.line(f"report: {shown(lab.path('report.html'))}")
