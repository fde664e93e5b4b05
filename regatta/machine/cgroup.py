"""Control groups: the kernel's account of all that a side's threads ran, and a target for perf.

Every nanosecond that a thread runs is charged to its group, including what it runs after the kernel
has closed its own account, which the process's CPU clock lacks. And counters that follow a group
need no inheriting when threads start and no returning when they end. Only root can create groups
everywhere, so only root has them here.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "regatta-side-"
MAKE_TRIES = 10
TRY_TIMEOUT_S = 10
NS_PER_US = 1000
EMPTY_WITHIN_S = 1.0
NO_GROUPS = (
    "control groups are not permitted here: CPU time misses the end of each thread, about 7 us; "
    "run as root to include them"
)
EMPTY_POLL_S = 0.002
# Writes itself into the group, then becomes the program: nothing of it runs outside.
ENTER = 'echo 0 > "$0" && exec "$@"'


@dataclass(frozen=True)
class Home:
    """Where groups can be made."""

    mount: Path
    lab_group: str
    """The lab's own group, below the mount."""

    def make(self) -> ControlGroup:
        for _ in range(MAKE_TRIES):
            name = f"{self.lab_group}{PREFIX}{secrets.token_hex(8)}"
            (self.mount / name).mkdir()
            lock = lock_group(self.mount / name)
            if lock is not None:
                return ControlGroup(self.mount, name, lock)
        raise OSError("control groups were removed as soon as they were created")


@dataclass(frozen=True)
class ControlGroup:
    """One side's group. Close it when its programs have ended."""

    mount: Path
    name: str
    """Below the mount: what perf calls it."""
    lock: ExitStack = field(compare=False)
    """Until it is closed: nobody else takes it away."""

    @property
    def path(self) -> Path:
        return self.mount / self.name

    def entering(self, program: Sequence[str]) -> list[str]:
        """The program, in the group."""
        return ["/bin/sh", "-c", ENTER, str(self.path / "cgroup.procs"), *program]

    def charged_ns(self) -> int:
        """All that was ever run in it; what runs at this moment is up to a tick behind."""
        for line in (self.path / "cpu.stat").read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == "usage_usec":
                return int(value) * NS_PER_US
        raise OSError("the control group has no account of CPU time")

    def threads(self) -> list[int]:
        """All that are in it, but for those that have all but ended."""
        return [int(line) for line in (self.path / "cgroup.threads").read_text().split()]

    def close(self) -> None:
        """Ends whatever is still in it, and takes it away."""
        self.lock.close()
        with suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")
        deadline = time.monotonic() + EMPTY_WITHIN_S
        while True:
            try:
                self.path.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                if time.monotonic() > deadline:
                    return
                time.sleep(EMPTY_POLL_S)
            else:
                return


def find_home() -> Home | None:
    """Where this process may make groups and put programs into them; None if it may not."""
    if os.geteuid() != 0:
        return None
    try:
        home = Home(find_mount(), find_current_group())
        sweep(home)
        group = home.make()
    except (OSError, LookupError):
        return None
    try:
        run = subprocess.run(
            group.entering(["true"]), capture_output=True, timeout=TRY_TIMEOUT_S, check=False
        )
        return home if run.returncode == 0 and group.charged_ns() > 0 else None
    except (OSError, subprocess.TimeoutExpired):
        return None
    finally:
        group.close()


def group_of(pid: int) -> ControlGroup | None:
    """The group that a process was put into by others, who also take it away; None if its time
    cannot be read."""
    try:
        group = ControlGroup(find_mount(), find_current_group(pid).rstrip("/"), ExitStack())
        return group if group.charged_ns() > 0 else None
    except (OSError, LookupError):
        return None


def find_mount() -> Path:
    """Of version 2, which every kernel of today can mount beside version 1."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split(" ")
        if kind == "cgroup2":
            return Path(where.encode().decode("unicode_escape"))
    raise LookupError("cgroup v2 is not mounted")


def find_current_group(pid: int | str = "self") -> str:
    """The group of a process, by default of this one: empty, or a path that ends in a slash."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            path = line.removeprefix("0::").strip("/")
            return f"{path}/" if path else ""
    raise LookupError("this process is in no group of cgroup v2")


def lock_group(path: Path) -> ExitStack | None:
    """Locks a group for as long as this process lives, or until the stack is closed.

    By the lock a lab knows whether another one uses a group: not by the number of its process,
    which in another container is another one's, or nobody's. None: somebody else holds it, or has
    taken it away.
    """
    with ExitStack() as stack, suppress(FileNotFoundError, BlockingIOError):
        opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, opened)
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.exists():
            return stack.pop_all()
    return None


def sweep(home: Home) -> None:
    """Takes away what a lab that was killed has left."""
    for path in (home.mount / home.lab_group).glob(f"{PREFIX}*"):
        lock = lock_group(path)
        if lock is not None:
            with lock, suppress(OSError):
                path.rmdir()
