"""Reads files of a checkout that anybody may have written, never outside it."""

import json
from pathlib import Path
from typing import Any

MOST_BYTES = 4 * 1024 * 1024


class SkippedError(Exception):
    """Something cannot be imported; the message is the reason."""


def text_in(root: Path, *parts: str) -> str:
    """The text of a regular file below the resolved folder `root`."""
    name = "/".join(parts)
    try:
        path = root.joinpath(*parts).resolve(strict=True)
        if not path.is_relative_to(root):
            raise SkippedError(f"{name} leads out of the checkout")
        if not path.is_file():
            raise SkippedError(f"{name} is not a file")
        if path.stat().st_size > MOST_BYTES:
            raise SkippedError(f"{name} is larger than {MOST_BYTES >> 20} MiB")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SkippedError(f"{name} is not UTF-8") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links
        reason = getattr(error, "strerror", None) or "a circle of links"
        raise SkippedError(f"{name}: {reason}") from error


def object_in(root: Path, *parts: str) -> dict[str, Any]:
    """The JSON object in such a file."""
    text = text_in(root, *parts)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SkippedError(f"{'/'.join(parts)} is not valid JSON") from error
    if not isinstance(value, dict):
        raise SkippedError(f"{'/'.join(parts)} is not a JSON object")
    return value
