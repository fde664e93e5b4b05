"""The text of a TOML file, and what it holds; what is wrong with either is one clear line."""

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
    """`what` it is, in a word or two, for a complaint."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"{what} is not valid TOML: {error}; correct it") from error
