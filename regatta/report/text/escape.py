"""Text of any origin in Markdown."""

import re

from regatta.report.text.printable import printable


def escape(text: str) -> str:
    """Text that Markdown shows as it is: a contender's name may hold anything."""
    flat = printable(" ".join(text.split()))
    escaped = re.sub(r"([\\`*_\[\]|#~])", r"\\\1", flat)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
