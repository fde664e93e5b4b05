"""Prints text that may contain control characters, from names, hosts and files, safely."""

import json
import re
from collections.abc import Iterable
from typing import Any

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
