"""Makes a command die with the process that started it, even when that is killed outright.

`setpriv --pdeathsig` asks the kernel for it. The parent may be gone between start and request; so a
tiny shell then checks that the parent is still the expected one (from the environment), leaves its
own process id for the next guard in the chain, and becomes the command. Entering a user namespace
drops the request: guard after it.
"""

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from regatta.machine.programs import need_tool

VARIABLE = "REGATTA_GUARD"
ORPHANED = 125
SCRIPT = f'test "$PPID" = "${VARIABLE}" || exit {ORPHANED}; export {VARIABLE}=$$; exec "$@"'


def guarded(command: Sequence[str]) -> list[str]:
    """The command under a guard."""
    setpriv = need_tool("setpriv", "util-linux")
    return [setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", SCRIPT, "guard", *command]


def guard_environment() -> dict[str, str]:
    """The environment of everything the lab starts: English numbers, and who the parent is."""
    return {**os.environ, "LC_ALL": "C", VARIABLE: str(os.getpid())}


class Warden:
    """Kills a process group when the lab has gone, for a program that can have no guard.

    A program that is counted from its first instruction on cannot come after a guard: the guard's
    own start would be counted. So a shell that reads from a pipe of ours waits beside it.
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
        """The program has ended: there is nothing to kill."""
        assert self.shell.stdin
        self.shell.kill()
        self.shell.wait()
        with suppress(OSError):
            self.shell.stdin.close()
