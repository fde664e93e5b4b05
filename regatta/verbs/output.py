"""What verbs share: safe output, and the help of their options."""

import json
import re
import sys
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from regatta.errors import UsageError
from regatta.show.text import LINES, is_seen, printable

Verb = TypeVar("Verb", bound=Callable[..., None])
QUIET = "Show no progress."
EXPLAIN = "Print every figure with its interval, all sentences and claims."
WHY = (
    "Also find, in trials of their own, what the server's CPU time is spent on, and where a "
    "request's time goes."
)
YES = "Send load to other hosts' addresses without asking: they must be yours."
SERVER_CPUS, CLIENT_CPUS = "CPUs of the server: 0 or 0,2 or 2-5.", "CPUs of the client."


def options(**helps: Any) -> Callable[[Verb], Verb]:
    """Gives each parameter of a verb its help: a text, or an Option or Argument of typer's.

    A bool with a text is a flag of its name: typer would add the opposite, `--no-quiet`.
    """

    def described(verb: Verb) -> Verb:
        kinds = verb.__annotations__
        assert {*helps, "return"} == set(kinds), "each parameter has a help, and each help one"
        for name, info in helps.items():
            is_flag = isinstance(info, str) and kinds[name] is bool
            flag = [f"--{name.replace('_', '-')}"] if is_flag else []
            shown = typer.Option(*flag, help=info) if isinstance(info, str) else info
            kinds[name] = Annotated[kinds[name], shown]
        return verb

    return described


class Output(Console):
    """A console that escapes control characters in everything it prints."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else printable(segment.text, LINES)
            yield segment._replace(text=text)


def say(console: Console, text: str) -> None:
    """Prints one line, unwrapped, so that a path or command in it can be copied."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def print_json(document: Any) -> None:
    """Prints JSON with letters of all scripts as they are and unprintable characters escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    typer.echo(re.sub(r"[^\n -~]", lambda found: quoted(found[0]), text))


def quoted(char: str) -> str:
    return char if is_seen(char) else json.dumps(char)[1:-1]


ON_LOOPBACK = re.compile(r"(localhost|127(\.\d+){3}|\[::1\]):\d+")


def permit(addresses: Iterable[str | None], yes: bool) -> None:
    """Load goes beyond loopback only if a person says so. `addresses`: of servers that run already;
    None: one that the race starts."""
    beyond = [at for at in addresses if at is not None and not ON_LOOPBACK.fullmatch(at)]
    if not beyond or yes:
        return
    question = f"The race sends as much load as they hold to {', '.join(beyond)}. Are they yours?"
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Then say --yes")
    if not typer.confirm(question, err=True):
        raise typer.Exit(UsageError.exit_status)
