"""Control groups: the complete CPU time of a side's threads, and a target for perf.

All CPU time of a thread is charged to its group, even what it runs after the kernel has closed the
thread's own account; the process's CPU clock lacks that. And counters that follow a group need not
be inherited when threads start, nor collected when they end. Only root can create groups on every
system, so only root uses them here.
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
# The shell joins the group, then becomes the program, so all of the program runs inside.
ENTER = 'echo 0 > "$0" && exec "$@"'


@dataclass(frozen=True)
class Home:
    mount: Path
    lab_group: str
    """The lab's own group, below the mount."""

    def make(self) -> ControlGroup:
        for _ in range(MAKE_TRIES):
            name = f"{self.lab_group}{PREFIX}{secrets.token_hex(8)}"
            path = self.mount / name
            try:
                path.mkdir()
                lock = lock_group(path)
            except BaseException:  # Ctrl-C, most likely while the kernel makes it: that takes long
                with suppress(OSError):
                    path.rmdir()
                raise
            if lock is not None:
                return ControlGroup(self.mount, name, lock)
        raise OSError("control groups were removed as soon as they were created")


@dataclass(frozen=True)
class ControlGroup:
    """One side's group. Close it when its programs have ended."""

    mount: Path
    name: str
    """Its path below the mount, as perf expects it."""
    lock: ExitStack = field(compare=False)
    """Keeps other labs from removing the group until it is closed."""

    @property
    def path(self) -> Path:
        return self.mount / self.name

    def entering(self, program: Sequence[str]) -> list[str]:
        return ["/bin/sh", "-c", ENTER, str(self.path / "cgroup.procs"), *program]

    def charged_ns(self) -> int:
        """CPU time of everything that ran in it; running threads are charged up to a tick late."""
        for line in (self.path / "cpu.stat").read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == "usage_usec":
                return int(value) * NS_PER_US
        raise OSError("the control group's cpu.stat has no usage_usec")

    def threads(self) -> list[int]:
        """The thread ids in it, without threads that are exiting."""
        return [int(line) for line in (self.path / "cgroup.threads").read_text().split()]

    def pids(self) -> list[int]:
        """The processes in it and below it, without those of other namespaces."""
        found: list[int] = []
        for folder, _, _ in os.walk(self.path):
            with suppress(OSError):  # a group below it can go at any time
                found += map(int, (Path(folder) / "cgroup.procs").read_text().split())
        return list(filter(None, found))

    def close(self) -> None:
        """Kills whatever still runs in it and removes it."""
        with self.lock:
            with suppress(OSError):
                (self.path / "cgroup.kill").write_text("1")
            deadline = time.monotonic() + EMPTY_WITHIN_S
            while not self.remove() and time.monotonic() < deadline:
                time.sleep(EMPTY_POLL_S)

    def remove(self) -> bool:
        """True: it is gone. False: something runs in it."""
        try:
            self.path.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True


def find_home() -> Home | None:
    """Where this process may create groups and run programs in them; None if it may not."""
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
    """The group of a process that another program created and will remove; None if its CPU time
    cannot be read."""
    try:
        group = ControlGroup(find_mount(), find_current_group(pid).rstrip("/"), ExitStack())
        return group if group.charged_ns() > 0 else None
    except (OSError, LookupError):
        return None


def group_of_others(name: str) -> ControlGroup:
    """One that another program created and will remove, with a process in it; LookupError if it has
    none."""
    group = ControlGroup(find_mount(), name.strip("/"), ExitStack())
    if not group.pids():
        raise LookupError("it has no process")
    return group


def find_mount(controller: str = "") -> Path:
    """Where cgroup version 2 is mounted, or the hierarchy of a controller of version 1."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split(" ")
        is_it = kind == "cgroup" and controller in options.split(",")
        if is_it if controller else kind == "cgroup2":
            return Path(where.encode().decode("unicode_escape"))
    raise LookupError(f"cgroup {controller or 'v2'} is not mounted")


def find_current_group(pid: int | str = "self", controller: str = "") -> str:
    """The group of a process (default: this one): empty, or a path that ends in a slash.

    Of version 2, or of a controller of version 1.
    """
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            path = path.strip("/")
            return f"{path}/" if path else ""
    raise LookupError(f"this process is in no group of cgroup {controller or 'v2'}")


def lock_group(path: Path) -> ExitStack | None:
    """Locks a group until this process ends or the stack is closed.

    The lock tells a lab whether another one uses the group. A process id could not: in another
    container it may belong to a different process or to none. None: another lab holds the lock, or
    has removed the group.
    """
    with ExitStack() as stack, suppress(FileNotFoundError, BlockingIOError):
        opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, opened)
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.exists():
            return stack.pop_all()
    return None


def sweep(home: Home) -> None:
    """Removes the groups of labs that were killed."""
    for path in (home.mount / home.lab_group).glob(f"{PREFIX}*"):
        lock = lock_group(path)
        if lock is not None:
            with lock, suppress(OSError):
                path.rmdir()
