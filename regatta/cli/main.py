"""The command line: a table of verbs, and what becomes of an error."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from regatta import __version__
from regatta.errors import RegattaError, UsageError
from regatta.report.text.printable import printable

EXIT_INTERRUPTED = 130
THREADS = "OPENBLAS_NUM_THREADS"
ANSWERING = (["compare"], ["review"])
VERBS = {
    "race": "Race the designs of a study: which one wins, by how much, and how sure that is.",
    "report": "Write report.html, summary.md and summary.csv of a race again, and print who won.",
    "compare": "Compare two races of one study, before and after a change.",
    "review": "Say what cannot be concluded from somebody's figures: perf stat output, or a table.",
    "advise": "Name the two or three designs that this machine's races favour for your situation.",
    "calibrate": "Measure how often Regatta is wrong on this machine, and keep it for all reports.",
    "doctor": "Find what on this machine spoils races, how much, and the command that fixes it.",
    "hosts": "Look at the hosts that a study races on, and at the path between them.",
    "fleet": "Race a study on many machines, each by itself, and say what holds on all of them.",
    "lab": "Take a guided hour: from one run by hand to a race, with a report of your own.",
}
"""Each is a function in a module of its name, which is loaded when the verb is called: its imports
take longer than all else of `--help`. Beside it the first line of its own help."""


class Verbs(TyperGroup):
    """Has a verb's module loaded when the verb is called, and not to list it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest


@contextmanager
def one_thread() -> Iterator[None]:
    """What numpy multiplies by is told when it is loaded, and by the environment alone.

    On matrices as small as ours more threads wait for each other, on CPUs that are measured. What
    a race starts inherits none of it.
    """
    if THREADS in os.environ:
        yield
        return
    os.environ[THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[THREADS]


def load(verb: str) -> Any:
    """The command that the module of a verb defines, with the words that may follow it."""
    one = typer.Typer(add_completion=False, rich_markup_mode="rich")
    with one_thread():
        module = import_module(f"regatta.cli.{verb}")
    parts = getattr(module, "PARTS", {})
    if not parts:
        one.command(verb)(getattr(module, verb))
    else:
        one.callback(invoke_without_command=True)(getattr(module, verb))
    for name, part in parts.items():
        one.command(name)(part)
    return typer.main.get_command(one)


def unloaded() -> None:
    """Stands for a verb in the list of all."""


app = typer.Typer(
    cls=Verbs,
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
            "--version", callback=show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Which server design should I use? Race them on your machine.

    [bold]Examples[/]

      regatta race                      the study quick: three designs, a minute
      regatta race reports              a longer study that ships with the project
      regatta race mine.toml --seed 7   your own study, in a fixed random order
      regatta race --resume             continue the newest unfinished race
      regatta report races/quick-…      write the report of a race again
      regatta compare before after      did a change make anything worse?
      regatta review perf.txt           what do these figures not show?
      regatta advise --connections 100 --work classic    which design for that?
      regatta calibrate                 measure how often verdicts are wrong on this machine
      regatta doctor                    what on this machine spoils races, and how to fix it
      regatta fleet quick --hosts machines.txt           does it hold on all of them?
      regatta lab                       a guided hour, with a report of your own
    """


for name, summary in VERBS.items():
    app.command(name, help=summary)(unloaded)


def fail(message: str, status: int) -> NoReturn:
    """One line on the standard error, whatever the message was."""
    line = printable(" ".join(message.split()))
    print(f"regatta: {line}", file=sys.stderr)
    sys.exit(status)


def failure_status(status: int = RegattaError.exit_status) -> int:
    """What a failure ends with; of these verbs 1 is an answer, and nothing else may be."""
    failed = status == RegattaError.exit_status
    return UsageError.exit_status if failed and sys.argv[1:2] in ANSWERING else status


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
            message = describe().rstrip(".") or "no command given"
            fail(f"{message}; see regatta --help", UsageError.exit_status)
        if type(error).__name__ == "Abort":
            fail("interrupted", EXIT_INTERRUPTED)
        message = f"internal error ({type(error).__name__}: {error}); please report it"
        fail(message, failure_status())
    sys.exit(status or 0)
