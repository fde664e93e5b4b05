"""Untrusted text in a terminal, in Markdown and in files: the name of a server, host or revision
must not move the cursor, reverse the writing direction, hide a part of itself or become markup."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Invisible characters that Unicode categorises as letters or marks."""
LINES = "\n\t"
"""Control characters allowed in multi-line text."""


def printable(text: str, spared: str = "") -> str:
    r"""Escapes invisible characters, except those in `spared`, as \x1b or \u202e."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in spared or is_seen(char) else number(char) for char in text)


def all_printable(part: Any, spared: str = "") -> Any:
    """The same for all strings in nested data, such as a chart specification."""
    match part:
        case str():
            return printable(part, spared)
        case list() | tuple():
            return [all_printable(each, spared) for each in part]
        case dict():
            return {key: all_printable(value, spared) for key, value in part.items()}
    return part


def is_seen(char: str) -> bool:
    """Spaces of any width count as visible."""
    is_blank = unicodedata.category(char) == "Zs"
    return (char.isprintable() or is_blank) and not INVISIBLE.match(char)


def number(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def escape(text: str) -> str:
    """Text that Markdown shows literally, on one line."""
    flat = printable(" ".join(text.split()))
    escaped = re.sub(r"([\\`*_\[\]|#~])", r"\\\1", flat)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """Text as inline code, on one line."""
    flat = printable(" ".join(text.split()))
    longest = max((len(ticks) for ticks in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    space = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{space}{flat}{space}{fence}"


SUBSTITUTES = str.maketrans("µ★☆–−×≈÷✓✗“”", 'u*o--x~/+x""', "") | {
    ord("…"): "...",
    ord("±"): "+-",
}


def plain(sentence: str, console: Console, style: str = "") -> Text:
    return Text(encodable(printable(sentence), console), style=style)


def put(console: Console, *lines: str, style: str = "") -> None:
    for line in lines:
        console.print(plain(line, console, style))


def encodable(text: str, console: Console) -> str:
    """With ASCII substitutes if the terminal's encoding lacks a character."""
    try:
        text.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return text.translate(SUBSTITUTES).encode("ascii", "replace").decode()
    return text


def duration(seconds: float) -> str:
    """12 s, 3 min 05 s, 2 h 07 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text, and whether each is code: what stands between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an odd backtick is one
        parts[-2:] = ["`".join(parts[-2:])]
    for at, part in enumerate(parts):
        if part:
            yield part, bool(at % 2)


def marked_up(text: str) -> str:
    """The same as Markdown on one line, with the spaces between its pieces."""
    found = ""
    for part, is_code in pieces(" ".join(text.split())):
        if is_code:
            found += code(part)
        else:
            start, end = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
            found += f"{start}{escape(part)}{end if part.strip() else ''}"
    return found
