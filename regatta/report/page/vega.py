"""Vega, Vega-Lite and their embedding, as one script without any import.

To bundle it takes seconds, more than all else of a report, and it is the same in all reports: it is
kept below XDG_CACHE_HOME, a file for each version of what bundles it.
"""

import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert

NO_HOME = RuntimeError
"""What pathlib says of a user without a home folder."""


@cache
def vega() -> str:
    bundle = _kept()
    if bundle is None:
        # Without a snippet it is all of them, as globals. The stubs demand one.
        bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]
        # Where nothing can be kept, the next report takes its seconds too.
        with suppress(OSError, NO_HOME):
            _keep(bundle)
    assert "</script" not in bundle.lower(), "the bundle would end its own element"
    return bundle


def path() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    # By the specification a relative path is ignored.
    folder = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    return folder / "regatta" / f"vega-{version('vl-convert-python')}.js"


def _kept() -> str | None:
    """Only what this user wrote is put into the pages that this user opens."""
    with suppress(OSError, NO_HOME, UnicodeDecodeError), path().open("rb") as file:
        if os.fstat(file.fileno()).st_uid == os.geteuid():
            return file.read().decode()
    return None


def _keep(bundle: str) -> None:
    """Whole or not at all: the file is renamed once it is complete and on disk."""
    kept = path()
    new = kept.with_name(f".{kept.name}.{os.getpid()}.new")
    kept.parent.mkdir(parents=True, exist_ok=True)
    try:
        with new.open("wb") as file:
            file.write(bundle.encode())
            file.flush()
            os.fsync(file.fileno())
        new.replace(kept)
    finally:
        new.unlink(missing_ok=True)
