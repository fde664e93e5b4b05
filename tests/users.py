"""Programs as another user: how it is become, and where it may run what is tested."""

import atexit
import functools
import random
import shutil
import stat
import tempfile
from pathlib import Path

NOBODYS = random.randrange(30_000, 60_000)
"""A user who has no processes, so that a limit on their number is exact: not even those of another
run of the tests, beside this one."""


def as_user(number: int) -> list[str]:
    """A prefix of a command, for root only: no supplementary groups, no capabilities."""
    return ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]


def runnable_by_all(program: str) -> str:
    """The program's path, or that of a copy: a checkout may lie in its owner's closed folder."""
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


def opened(folder: Path) -> Path:
    """A new folder in it that every user may enter and write to."""
    new = folder / "open"
    new.mkdir()
    new.chmod(0o777)
    for above in (folder, *folder.parents[:3]):
        above.chmod(above.stat().st_mode | 0o011)
    return new
