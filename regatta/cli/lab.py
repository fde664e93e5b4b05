"""`regatta lab`: a guided hour, and the table of a class."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from regatta.cli.display import display_on
from regatta.cli.hooks import HOOKS
from regatta.cli.output import Output, print_json
from regatta.errors import InterruptedRaceError, RegattaError, UsageError
from regatta.lab import commands
from regatta.lab.begin import Wishes, agreed_state, lay_out, status_lines
from regatta.lab.collect.show import print_collected, to_dict
from regatta.lab.collect.verdicts import collect as collect_ledgers
from regatta.lab.report.answers import FILE as ANSWERS
from regatta.lab.report.files import write_report
from regatta.lab.state import Guess
from regatta.lab.step import Desk
from regatta.lab.steps import STEPS
from regatta.lab.talk import Log, Terminal
from regatta.lab.walk import check_step, do_again, next_step, walk
from regatta.machine.programs import Programs, discover, shown
from regatta.race.folder import locked
from regatta.race.once import RaceOnce, race_with
from regatta.race.options import Options


def lab(  # noqa: PLR0913, PLR0917  (each parameter is an option that a person may type)
    context: typer.Context,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do every step without waiting, as without a terminal.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Short races: the way of the hour, in a minute.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the lab.")] = commands.FOLDER,
    guess: Annotated[
        str | None, typer.Option(help="Your guess: the design that needs the least server CPU.")
    ] = None,
    by: Annotated[
        float | None, typer.Option(help="And how many times as much the next one needs, as 1.2.")
    ] = None,
    designs: Annotated[
        str | None, typer.Option(help="The designs to compare, with commas between them.")
    ] = None,
    connections: Annotated[int | None, typer.Option(help="Clients that ask at once.")] = None,
    work: Annotated[
        str | None, typer.Option(help="What each request does: classic, snapshot, wait=5ms …")
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Say which steps are done, and end.")
    ] = False,
    again: Annotated[
        str | None,
        typer.Option(help="Do this step again, and what rests on it; old files are kept."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress of races.")] = False,
) -> None:
    """Take a guided hour: from one run by hand to a race, with a report of your own.

    Nine steps: a server asked by hand; many clients; a CPU for each side; perf stat; a table from
    one run; a guess; ten single runs; a race; what was wrong with the table. Type the commands
    that it shows, or have it run them. The report with your figures and the questions is in
    lab/report.md, .html, .tex and .pdf; answers go into lab/answers.md.

    Stop with q or Ctrl-C at any time: the same command goes on. `regatta lab collect` makes one
    table of many machines' ledgers.

    [bold]Examples[/]

      regatta lab                              begin, or go on
      regatta lab --status                     which steps are done?
      regatta lab --yes --quick --out /tmp/try --guess epoll --by 1.2
      regatta lab --designs iterative,prefork-accept,reactors --connections 50
      regatta lab --again race
      regatta lab collect handed-in/*.sqlite
    """
    if context.invoked_subcommand is not None:
        return
    if status:
        typer.echo("\n".join(status_lines(out)))
        return
    if again is not None:
        check_step(again)
    wishes = Wishes(
        designs=None if designs is None else tuple(name.strip() for name in designs.split(",")),
        connections=connections,
        work=work,
        quick=quick or None,
        guess=read_guess(guess, by),
    )
    console = Output()
    waits = console.is_terminal and sys.stdin.isatty() and not yes
    talk = Terminal(console) if waits else Log(console)
    programs = discover()
    agreed_state(out, wishes, programs, again)  # a mistake is told before there is a folder
    with locked(out):
        # Another lab may have gone on in this folder until now.
        state = agreed_state(out, wishes, programs, again)
        race = partial(races, programs, console, quiet)
        desk = lay_out(out, state, programs, race, talk)
        desk.guess = wishes.guess
        if again is not None:
            do_again(desk, again)
        go(desk, talk, yes)


def read_guess(design: str | None, by: float | None) -> Guess | None:
    if design is None:
        if by is not None:
            raise UsageError("--by needs --guess: the design that needs the least")
        return None
    return Guess(design, by)


def races(
    programs: Programs,
    console: Console,
    quiet: bool,
    server_cpus: tuple[int, ...],
    client_cpus: tuple[int, ...],
) -> RaceOnce:
    options = Options(server_cpus=server_cpus, client_cpus=client_cpus)
    return race_with(programs, options, partial(display_on, console, quiet), HOOKS)


def go(desk: Desk, talk: Log, yes: bool) -> None:
    """The steps that are left; with none the report is made again, for the answers."""
    again = commands.lab(desk.folder, *(["--yes"] if yes else []))
    try:
        for line in desk.tools.lacks:
            talk.say(line)
        if next_step(desk) is None:
            write_report(desk, STEPS)
        elif not walk(desk, talk):
            talk.line(f"Stopped; what is done is kept. Go on with: {again}")
            return
    except KeyboardInterrupt as error:
        raise InterruptedRaceError(
            f"interrupted; what is done is kept. Go on with: {again}"
        ) from error
    talk.line()
    talk.line(
        f"All steps are done. Answer their questions in {shown(desk.path(ANSWERS))}. The answers "
        f"come into the report with: {again}"
    )
    talk.line(f"report: {shown(desk.path('report.html'))}")


def collect(
    ledgers: Annotated[
        list[Path], typer.Argument(metavar="LEDGER...", help="Ledgers, or the folders of races.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Make one table of verdicts of many machines' ledgers: what a class has found.

    A row a machine and question: its CPU, its kernel, the best design, and how many times as much
    the next one needs, with its 95 % interval; below it how often each design was the best. Copies
    of one race count once.

    Exit status: 0, or 1 if a ledger cannot be read; the others are in the table all the same.

    [bold]Examples[/]

      regatta lab collect handed-in/*.sqlite
      regatta lab collect lab/race other/race --json
    """
    found = collect_ledgers(ledgers)
    if as_json:
        print_json(to_dict(found))
    else:
        print_collected(found, Output())
    if found.refused:
        raise RegattaError("; ".join(found.refused))


PARTS = {"collect": collect}
"""Words that may follow the verb, each with what it does."""
