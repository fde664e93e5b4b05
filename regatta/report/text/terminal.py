"""Untrusted text for a terminal: control characters escaped, characters it lacks replaced."""

from rich.console import Console
from rich.text import Text

from regatta.report.text.printable import printable

SUBSTITUTES = (
    ("µ", "u"),
    ("★", "*"),
    ("☆", "o"),
    ("–", "-"),
    ("…", "..."),
    ("−", "-"),
    ("×", "x"),
    ("±", "+-"),
    ("≈", "~"),
    ("÷", "/"),
    ("✓", "+"),
    ("✗", "x"),
    ("“", '"'),
    ("”", '"'),
)


def plain(sentence: str, console: Console, style: str = "") -> Text:
    return Text(encodable(printable(sentence), console), style=style)


def encodable(text: str, console: Console) -> str:
    """With ASCII substitutes if the terminal's encoding lacks a character."""
    try:
        text.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        for char, substitute in SUBSTITUTES:
            text = text.replace(char, substitute)
        return text.encode("ascii", "replace").decode()
    return text
