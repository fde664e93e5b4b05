"""Reads a TOML file; every error is one line."""

import tomllib
from pathlib import Path
from typing import Any

from regatta.errors import StudyError


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text; save it as UTF-8") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise StudyError(f"cannot read {path}: {reason}; name another file") from error


def content_of(text: str, what: str) -> dict[str, Any]:
    """`what`: what the text is, for the error message."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"{what} is not valid TOML: {error}") from error
