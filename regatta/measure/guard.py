"""Makes a command die with the process that started it, even when that is killed outright.

`setpriv --pdeathsig` asks the kernel for it. As the parent may end before that request, a shell
then checks that its parent is still the one named in the environment, sets its own process id there
for the next guard in the chain, and execs the command. Entering a user namespace clears the
request, so the guard must come after it.
"""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from regatta.measure.programs import need_tool

VARIABLE = "REGATTA_GUARD"
ORPHANED = 125
KILL_ROUNDS = 100
SCRIPT = f'test "$PPID" = "${VARIABLE}" || exit {ORPHANED}; export {VARIABLE}=$$; exec "$@"'


def guarded(command: Sequence[str]) -> list[str]:
    """The command under a guard."""
    setpriv = need_tool("setpriv", "util-linux")
    return [setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", SCRIPT, "guard", *command]


def guard_environment() -> dict[str, str]:
    """The environment of everything the lab starts: the C locale, and the parent's process id."""
    return {**os.environ, "LC_ALL": "C", VARIABLE: str(os.getpid())}


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
        for one in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)


class Warden:
    """Kills a process group when the lab ends, for a program that can have no guard.

    A program that is counted from its first instruction cannot be started by a guard, whose own
    start would be counted. Instead, a separate shell waits for our end of a pipe to close.
    """

    SCRIPT = 'read -r group; read -r end; kill -KILL "-$group"'

    def __init__(self, group: int) -> None:
        self.shell = subprocess.Popen(
            ["/bin/sh", "-c", self.SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
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
