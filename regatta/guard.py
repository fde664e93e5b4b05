"""Makes a command die with the process that started it, even when that one is killed outright.

`setpriv --pdeathsig` asks the kernel for it. Between the start and that request the parent may
already be gone; so a tiny shell then checks that the parent is still the one that was expected
(it stands in the environment), leaves its own process id for the next guard in the chain, and
becomes the command. Entering a user namespace takes the request away: guard after it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from regatta.programs import need_tool

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
