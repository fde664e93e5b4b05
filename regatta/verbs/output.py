"""What verbs share: safe output, the option --export, and options of one subject as a dataclass."""

import inspect
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from regatta.show.text import LINES, is_seen, printable


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


EXPORT = typer.Option(
    metavar="FORMAT:FILE",
    help="Also write the figures for a tool that keeps a history: bmf (Bencher), "
    "otava (added to FILE) or openmetrics. Repeatable.",
    show_default=False,
)


@dataclass(frozen=True)
class OptionGroup:
    parameter: str
    kind: Any
    """The dataclass; its fields are options."""

    def taken_from(self, values: dict[str, Any]) -> Any:
        return self.kind(**{field.name: values.pop(field.name) for field in fields(self.kind)})


def with_option_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as typer sees it: each field of a dataclass is an option of its own."""
    hints = get_type_hints(verb, include_extras=True)
    signature = inspect.signature(verb)
    groups = [OptionGroup(name, hints[name]) for name in signature.parameters]
    groups = [group for group in groups if is_dataclass(group.kind)]
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if is_dataclass(hints[name]):
            parameters += _options_of(hints[name])
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(kind=kind, annotation=hints[name]))

    @wraps(verb)
    def called(**values: Any) -> None:
        made = {group.parameter: group.taken_from(values) for group in groups}
        verb(**values, **made)

    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _options_of(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
