"""Text of any origin made safe for a terminal: no cursor moved, no letter it lacks."""

from rich.console import Console
from rich.text import Text

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


def printable(text: str) -> str:
    """A name of somebody's server must not move the cursor or colour the screen."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def encodable(text: str, console: Console) -> str:
    """Plain letters where the terminal has no others."""
    try:
        text.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        for char, substitute in SUBSTITUTES:
            text = text.replace(char, substitute)
        return text.encode("ascii", "replace").decode()
    return text
