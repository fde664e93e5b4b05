"""The command line: a table of verbs, and what becomes of an error."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from regatta import __version__
from regatta.cli.advise import advise
from regatta.cli.calibrate import calibrate
from regatta.cli.compare import compare
from regatta.cli.doctor import doctor
from regatta.cli.race import race
from regatta.cli.report import report
from regatta.errors import RegattaError, UsageError

EXIT_INTERRUPTED = 130

app = typer.Typer(
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

      regatta race                      the quick race: three designs, a minute
      regatta race reports              a longer study that ships with the project
      regatta race mine.toml --seed 7   your own study, in a fixed random order
      regatta race --resume             continue the newest unfinished race
      regatta report races/quick-…      write the report of a race again
      regatta compare before after      did a change make anything worse?
      regatta advise --connections 100 --work classic    which design for that?
      regatta calibrate                 measure how often verdicts are wrong on this machine
      regatta doctor                    what on this machine spoils races, and how to fix it
    """


app.command()(race)
app.command()(report)
app.command()(compare)
app.command()(advise)
app.command()(calibrate)
app.command()(doctor)


def fail(message: str, status: int) -> NoReturn:
    """One line on the standard error, whatever the message was."""
    line = " ".join(message.split())
    print(f"regatta: {line}", file=sys.stderr)
    sys.exit(status)


def failure_status(status: int = RegattaError.exit_status) -> int:
    """What a failure ends with; of `compare` 1 means a regression, and nothing else may."""
    failed = status == RegattaError.exit_status
    return UsageError.exit_status if failed and sys.argv[1:2] == ["compare"] else status


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
            told = describe().rstrip(".") or "no command given"
            fail(f"{told}; see regatta --help", UsageError.exit_status)
        if type(error).__name__ == "Abort":
            fail("interrupted", EXIT_INTERRUPTED)
        told = f"internal error ({type(error).__name__}: {error}); please report it"
        fail(told, failure_status())
    sys.exit(status or 0)
