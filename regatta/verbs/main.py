"""The `regatta` command: the table of verbs, and errors as one line with an exit status."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import getdoc
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from regatta import __version__
from regatta.errors import RegattaError, UsageError
from regatta.show.text import printable

NEEDED = {"int": "a whole number", "float": "a number"}


def usage_message(error: Any) -> str:
    """`error`: typer's usage error; the module of its class differs by version."""
    verb = next(iter(sys.argv[1:2]), "")
    message = invalid_number(error) or error.format_message().rstrip(".") or "no command given"
    help_ = (
        f"regatta {verb} --help"
        if verb.isalpha() and "command" not in message
        else "regatta --help"
    )
    return f"{message}; see {help_}"


def invalid_number(error: Any) -> str | None:
    """typer quotes pydantic, which names no value."""
    try:
        (found,) = error.__cause__.errors()
    except (AttributeError, ValueError):
        return None
    kind, _, what = found["type"].partition("_")
    if kind not in NEEDED or not what:
        return None
    names = [*error.param.opts, error.param.name]
    return f"{names[0]} is {found['input']}; it must be {NEEDED[kind]}"


EXIT_INTERRUPTED = 130
THREADS = "OPENBLAS_NUM_THREADS"
STATUS_1_IS_A_RESULT = (["compare"], ["review"])
VERBS = {
    "race": "Race the designs of a study and report which one wins.",
    "versus": "Compare servers in one line: which is better, and by how much.",
    "report": "Write the report of a race again and print its results.",
    "compare": "Compare two races of one study, before and after a change.",
    "review": "Check reported figures: contradictions and gaps.",
    "calibrate": "Measure how often Regatta's verdicts are wrong on this machine.",
    "doctor": "Find what spoils races on this machine, or on the hosts of a study.",
    "collect": "Compare the verdicts of one study on many machines.",
    "lab": "Take a guided hour, from one run by hand to a full race.",
}
"""The first line of each verb's help. The verb is a function in the module of the same name, which
is imported only when the verb is called: the imports take longer than the rest of `--help`."""


class Flags:
    """typer shows `<bool>` beside a flag, as if it took a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class Verb(Flags, TyperCommand):
    """A command that shows its flags so."""


class Verbs(Flags, TyperGroup):
    """A group that imports the module of a verb when the verb is called, not to list it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in VERBS else command, rest


@contextmanager
def one_thread() -> Iterator[None]:
    """Has OpenBLAS, which reads its environment when numpy is imported, start no threads.

    On our small matrices more threads only wait for each other, on CPUs that are being measured.
    The variable is removed again so that raced programs do not inherit it.
    """
    if THREADS in os.environ:
        yield
        return
    os.environ[THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[THREADS]


def joined_lines(text: str) -> str:
    """Prose with one line a paragraph, which the terminal wraps; indented lines stay as they are.

    typer prints the line breaks of a docstring in addition to its own.
    """
    return re.sub(r"(?<=\S)\n(?=\S)", " ", text)


def load(verb: str) -> Any:
    """The command that the module of a verb defines."""
    with one_thread():
        module = import_module(f"regatta.verbs.{verb}")
    group = typer.Typer(cls=Verbs, add_completion=False, rich_markup_mode="rich")

    function = getattr(module, verb)
    help_text = joined_lines(getdoc(function) or "")
    group.command(verb, cls=Verb, help=help_text)(function)
    return typer.main.get_command(group)


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

    `regatta COMMAND --help` explains a command and shows examples of it.

    [bold]Examples[/]

      regatta race                      three designs, about a minute
      regatta race reports              a longer study
      regatta race mine.toml --seed 7   your own study, in a fixed random order
      regatta race --resume             continue the newest unfinished race
      regatta compare before after      did a change make anything worse?
      regatta review perf.txt           what do these figures not show?
      regatta report --near connections=100,work=classic
      regatta doctor                    what spoils races on this machine?
    """


for name, summary in VERBS.items():
    app.command(name, help=summary)(lambda: None)  # its module is not imported yet


def fail(message: str, status: int) -> NoReturn:
    """Prints the message as one line on stderr and exits."""
    line = printable(" ".join(message.split()))
    print(f"regatta: {line}", file=sys.stderr)
    sys.exit(status)


def is_verdict(arguments: list[str]) -> bool:
    """Whether `versus` is asked for a verdict, which is its exit status."""
    return arguments[:1] == ["versus"] and any(
        argument.startswith(("--base", "--head")) for argument in arguments
    )


def failure_status(status: int = RegattaError.exit_status) -> int:
    """The exit status of a failure. Where 1 reports a result, a failure is 2."""
    failed = status == RegattaError.exit_status
    is_result = sys.argv[1:2] in STATUS_1_IS_A_RESULT or is_verdict(sys.argv[1:])
    return UsageError.exit_status if failed and is_result else status


def main(command: Any = None, name: str = "regatta") -> None:
    """The program. An error is one line and an exit status, never a traceback.

    `command`: a script's own, instead of the verbs."""
    command = command or typer.main.get_command(app)
    try:
        status = command.main(standalone_mode=False, prog_name=name)
    except RegattaError as error:
        fail(str(error), failure_status(error.exit_status))
    except KeyboardInterrupt:
        fail("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader closed the pipe (`regatta report … | head`): exit without a message.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(failure_status())
    except OSError as error:
        named = f": {error.filename}" if error.filename else ""
        fail(f"{error.strerror or error}{named}; correct that and try again", failure_status())
    except Exception as error:
        # typer's usage errors format themselves; the module of their class differs by version.
        if hasattr(error, "format_message"):
            fail(usage_message(error), UsageError.exit_status)
        if type(error).__name__ == "Abort":
            fail("interrupted", EXIT_INTERRUPTED)
        message = f"internal error ({type(error).__name__}: {error}); please report it"
        fail(message, failure_status())
    sys.exit(status or 0)
