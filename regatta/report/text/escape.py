"""Text of any origin in Markdown."""

import re


def escape(text: str) -> str:
    """Text that Markdown shows as it is: a contender's name may hold anything."""
    flat = " ".join(text.split())
    escaped = re.sub(r"([\\`*_\[\]|#~])", r"\\\1", flat)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
