"""Processes: the files of /proc that several modules read, and commands that die with the process
that started them."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regatta.measure.programs import need_tool

PROC = Path("/proc")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
NS_PER_TICK = 1_000_000_000 // TICKS_A_SECOND

# Columns of a `cpuN` line of /proc/stat.
USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL = range(8)
BY_PROGRAMS = (USER, NICE, SYSTEM)
"""Time charged to tasks. Not interrupts: in a trial those are its own packets, so they must not
count as other programs' time where the kernel accounts for them separately."""
BUSY = (*BY_PROGRAMS, IRQ, SOFTIRQ)
"""Everything that keeps a CPU from a program that wants to run."""

# Fields of /proc/PID/stat by their numbers in proc_pid_stat(5).
PARENT, FLAGS = 4, 9
MINOR_FAULTS, REAPED_MINOR_FAULTS, MAJOR_FAULTS, REAPED_MAJOR_FAULTS = 10, 11, 12, 13
USER_TICKS, SYSTEM_TICKS, REAPED_USER_TICKS, REAPED_SYSTEM_TICKS = 14, 15, 16, 17
THREADS, BEGAN, LAST_CPU = 20, 22, 39
FIRST_NUMBER = 4
KERNEL_THREAD = 0x00200000  # PF_KTHREAD, of the flags


@dataclass(frozen=True)
class Stat:
    """One line of /proc/PID/stat, of a process or of a thread."""

    name: str
    """Printable: a process may give itself any name, even terminal escapes."""
    state: str
    numbers: tuple[int, ...]
    """Fields 4 and up."""

    def __getitem__(self, field: int) -> int:
        """A field by its number."""
        return self.numbers[field - FIRST_NUMBER]

    @property
    def is_kernel(self) -> bool:
        """Whether it is a kernel thread; a parent 2 is no proof, as in a container any process may
        have that id."""
        return bool(self[FLAGS] & KERNEL_THREAD)


def parse_stat(data: bytes) -> Stat:
    """The name may hold any byte, even `)`. ValueError if this is not such a line."""
    before, bracket, after = data.rpartition(b")")
    state, *numbers = after.split() or [b""]
    if not bracket or len(numbers) <= BEGAN - FIRST_NUMBER:
        raise ValueError("not a line of /proc/PID/stat")
    name = before.partition(b"(")[2].decode(errors="replace")
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    return Stat(printable or "?", state.decode(), tuple(int(number) for number in numbers))


def read_text(path: Path | str) -> str | None:
    """Stripped text of a file; None if it does not exist or may not be read."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def read_stat(pid: int, tid: int | None = None) -> Stat:
    """Reads the stat line of a process or a thread. OSError if it has ended."""
    folder = PROC / str(pid)
    if tid is not None:
        folder = folder / "task" / str(tid)
    return parse_stat((folder / "stat").read_bytes())


def parse_cpus(text: str) -> dict[int, tuple[int, ...]]:
    """Ticks of every CPU in /proc/stat up to STEAL; 0 for columns that a kernel lacks."""
    cpus: dict[int, tuple[int, ...]] = {}
    for line in text.splitlines():
        name, *values = line.split() or [""]
        if name.startswith("cpu") and name[3:].isdigit():
            numbers = [int(value) for value in values[: STEAL + 1]]
            cpus[int(name[3:])] = (*numbers, *[0] * (STEAL + 1 - len(numbers)))
    return cpus


# `setpriv --pdeathsig` asks the kernel for it. As the parent may end before that request, a shell
# then checks that its parent is still the one named in the environment, sets its own process id
# there for the next guard in the chain, and execs the command. Entering a user namespace clears the
# request, so the guard must come after it.

VARIABLE = "REGATTA_GUARD"
ORPHANED = 125
KILL_ROUNDS = 100
SCRIPT = f'test "$PPID" = "${VARIABLE}" || exit {ORPHANED}; export {VARIABLE}=$$; exec "$@"'


def guarded(command: Sequence[str]) -> list[str]:
    setpriv = need_tool("setpriv", "util-linux")
    return [setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", SCRIPT, "guard", *command]


def guard_environment() -> dict[str, str]:
    """The environment of everything the lab starts: the C locale, and the parent's process id."""
    return {**os.environ, "LC_ALL": "C", VARIABLE: str(os.getpid())}


def with_input(
    command: Sequence[str],
    stdout: int = subprocess.DEVNULL,
    stderr: int | None = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Starts a helper of the lab that ends when its input does; Ctrl-C reaches only the lab, which
    then shuts down in order."""
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=stderr,
        env=guard_environment(),
        start_new_session=True,
    )


def descendants_left(pid: int) -> list[int]:
    """Processes, other than `pid`, that carry the mark of the guard that became `pid`.

    They inherit it, so that even a daemon that has left its session and its parent is found.
    """
    mark = f"{VARIABLE}={pid}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (path / "environ").read_bytes().split(b"\0") and int(path.name) != pid:
                found.append(int(path.name))
    return found


def kill_descendants(pid: int) -> None:
    """Kills what a guarded program has left running; again, as it may fork meanwhile."""
    for _ in range(KILL_ROUNDS):
        left = descendants_left(pid)
        if not left:
            return
        for orphan in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(orphan, signal.SIGKILL)


class Warden:
    """Kills a process group when the lab ends, for a program that can have no guard.

    A program that is counted from its first instruction cannot be started by a guard, whose own
    start would be counted. Instead, a separate shell waits for our end of a pipe to close.
    """

    SCRIPT = 'read -r group; read -r end; kill -KILL "-$group"'

    def __init__(self, group: int) -> None:
        self.shell = with_input(["/bin/sh", "-c", self.SCRIPT])
        assert self.shell.stdin
        self.shell.stdin.write(f"{group}\n".encode())
        self.shell.stdin.flush()

    def dismiss(self) -> None:
        """Ends the warden: the program has ended, so there is nothing to kill."""
        assert self.shell.stdin
        self.shell.kill()
        self.shell.wait()
        with suppress(OSError):
            self.shell.stdin.close()
