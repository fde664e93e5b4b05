"""Untrusted text made visible: the name of a server, host or revision must not move the cursor,
reverse the writing direction or hide a part of itself."""

import re
import unicodedata
from typing import Any

INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Invisible characters that Unicode categorises as letters or marks."""
LINES = "\n\t"
"""Control characters allowed in multi-line text."""


def printable(text: str, kept: str = "") -> str:
    r"""Escapes invisible characters, except those in `kept`, as \x1b or \u202e."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in kept or is_seen(char) else number(char) for char in text)


def all_printable(part: Any, kept: str = "") -> Any:
    """The same for all strings in nested data, such as a chart specification."""
    match part:
        case str():
            return printable(part, kept)
        case list() | tuple():
            return [all_printable(each, kept) for each in part]
        case dict():
            return {key: all_printable(value, kept) for key, value in part.items()}
    return part


def is_seen(char: str) -> bool:
    """Spaces of any width count as visible."""
    is_blank = unicodedata.category(char) == "Zs"
    return (char.isprintable() or is_blank) and not INVISIBLE.match(char)


def number(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
