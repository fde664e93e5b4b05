"""Vega, Vega-Lite and vega-embed as one script without imports.

Bundling takes seconds, more than the rest of a report, and the bundle is the same in all reports.
It is cached below XDG_CACHE_HOME, one file for each version of the bundler.
"""

import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert

NO_HOME = RuntimeError
"""Raised by pathlib for a user without a home folder."""


@cache
def vega() -> str:
    bundle = _cached()
    if bundle is None:
        # Without a snippet the bundle exports all three as globals; the stubs require one.
        bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]
        # Without a writable cache every report takes the seconds to bundle.
        with suppress(OSError, NO_HOME):
            _store(bundle)
    assert "</script" not in bundle.lower(), "the bundle would end its own element"
    return bundle


def path() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    # By the specification a relative path is ignored.
    folder = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    return folder / "regatta" / f"vega-{version('vl-convert-python')}.js"


def _cached() -> str | None:
    """Trusts only a file that belongs to this user: it becomes a script in their pages."""
    with suppress(OSError, NO_HOME, UnicodeDecodeError), path().open("rb") as file:
        if os.fstat(file.fileno()).st_uid == os.geteuid():
            return file.read().decode()
    return None


def _store(bundle: str) -> None:
    """Atomically: the file is renamed once it is complete and on disk."""
    cached = path()
    new = cached.with_name(f".{cached.name}.{os.getpid()}.new")
    cached.parent.mkdir(parents=True, exist_ok=True)
    try:
        with new.open("wb") as file:
            file.write(bundle.encode())
            file.flush()
            os.fsync(file.fileno())
        new.replace(cached)
    finally:
        new.unlink(missing_ok=True)
