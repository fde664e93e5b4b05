"""Where a verb prints: a terminal obeys nothing of what names, hosts and files say."""

import json
import re
from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from regatta.report.text.printable import LINES, is_seen, printable


class Output(Console):
    """A console for text of any origin. Of whatever is printed only its own styles are obeyed."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else printable(segment.text, LINES)
            yield segment._replace(text=text)


def print_json(document: Any) -> None:
    """The letters of all scripts as they are; what is not printable as JSON's own numbers."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    typer.echo(re.sub(r"[^\n -~]", lambda found: quoted(found[0]), text))


def quoted(char: str) -> str:
    return char if is_seen(char) else json.dumps(char)[1:-1]
