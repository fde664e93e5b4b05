"""Run programs as another user, who may have no access to the checkout."""

import atexit
import functools
import random
import shutil
import stat
import tempfile
from pathlib import Path

UNUSED_UID = random.randrange(30_000, 60_000)
"""A user id without processes, so that RLIMIT_NPROC is exact, even with parallel test runs."""


def as_user(number: int) -> list[str]:
    """Command prefix, for root only: no supplementary groups, no capabilities."""
    return ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]


def runnable_by_all(program: str) -> str:
    """The program, or a copy of it if others cannot reach its folder."""
    path = Path(program).resolve()
    if all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents):
        return program
    copy = open_folder() / path.name
    if not copy.exists():
        shutil.copy2(path, copy)
    return str(copy)


@functools.cache
def open_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="regatta-test-"))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def world_writable(folder: Path) -> Path:
    """A new subfolder that every user may enter and write to."""
    new = folder / "open"
    new.mkdir()
    new.chmod(0o777)
    for above in (folder, *folder.parents[:3]):
        above.chmod(above.stat().st_mode | 0o011)
    return new
