"""Atomic replacement of a file."""

import os
from pathlib import Path

from regatta.errors import RegattaError


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes beside the file and renames: readers see the old content or the new, never a part."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise RegattaError(
            f"cannot write {path}: {error.strerror or error}; free some space or make the folder "
            "writable"
        ) from error
