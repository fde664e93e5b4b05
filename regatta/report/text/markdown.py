"""Untrusted text in Markdown."""

import re

from regatta.report.text.printable import printable


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
