"""Text of any origin without what would be obeyed instead of shown: a name of somebody's server, a
host's or a revision's must not move a cursor, turn the line around or hide a part of itself."""

import re
import unicodedata
from typing import Any

INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks by their category, of which nothing is seen."""
LINES = "\n\t"
"""What a text of several lines may keep."""


def printable(text: str, kept: str = "") -> str:
    r"""Whatever is not, as a number: \x1b, \u202e; but for the characters of `kept`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in kept or is_seen(char) else number(char) for char in text)


def all_printable(part: Any, kept: str = "") -> Any:
    """The same for all text in plain data, such as the specification of a chart."""
    match part:
        case str():
            return printable(part, kept)
        case list() | tuple():
            return [all_printable(each, kept) for each in part]
        case dict():
            return {key: all_printable(value, kept) for key, value in part.items()}
    return part


def is_seen(char: str) -> bool:
    """A blank of any width is."""
    is_blank = unicodedata.category(char) == "Zs"
    return (char.isprintable() or is_blank) and not INVISIBLE.match(char)


def number(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
