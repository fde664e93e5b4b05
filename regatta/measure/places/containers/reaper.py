"""Removes a race's containers, which carry its label, however the race ends.

A race that ends or is interrupted removes them itself. If it is killed, a shell removes them that
waits for the lab's end of a pipe to close. If the shell is killed too, the next race removes
containers whose lab is gone.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import platform
import secrets
from contextlib import suppress
from pathlib import Path

from regatta.errors import PlacementError
from regatta.measure.places.containers.engine import Engine
from regatta.measure.processes import BEGAN, read_stat, read_text, with_input

LABEL = "regatta.race"
PREFIX = "regatta-"
# A container that the engine was starting when the lab was killed may appear a moment later.
WATCH = """
trap '' INT TERM HUP
read -r end
clean=0 checks=0
while [ "$clean" -lt 5 ] && [ "$checks" -lt 100 ]; do
    checks=$((checks + 1))
    found=$("$0" ps --all --quiet --filter "label=$1")
    if [ -n "$found" ]; then
        clean=0
        "$0" rm --force $found
    else
        clean=$((clean + 1))
    fi
    sleep 0.2
done
"""


def system_mark() -> str:
    """Identifies this system, as several may share one engine: process ids of another mean nothing
    here, so a lab must not judge by them whether its containers are needed."""
    space = Path("/proc/self/ns/pid").stat().st_ino
    system = f"{read_text('/etc/machine-id')} {platform.node()} {space}"
    return hashlib.sha256(system.encode()).hexdigest()[:8]


def lab_mark(pid: int) -> str | None:
    """Identifies a process of this system, by its id and the tick when it began; None: it is
    gone."""
    try:
        return f"{system_mark()}-{pid}-{read_stat(pid)[BEGAN]}"
    except OSError:
        return None


class Reaper:
    """Removes one lab's containers when it is closed."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.race = f"{lab_mark(os.getpid())}-{secrets.token_hex(2)}"
        self.numbers = itertools.count(1)
        self.shell = with_input(["/bin/sh", "-c", WATCH, engine.path, self.label])

    @property
    def label(self) -> str:
        return f"{LABEL}={self.race}"

    def name(self) -> str:
        """The name for the next container."""
        return f"{PREFIX}{self.race}-{next(self.numbers)}"

    def close(self) -> None:
        """Removes the remaining containers; if that fails, the shell goes on trying."""
        assert self.shell.stdin
        with self.shell.stdin:  # the shell removes them when it is closed
            remove(self.engine, self.label)
            self.shell.kill()
            self.shell.wait()


def remove(engine: Engine, label: str) -> None:
    found = engine.run("ps", "--all", "--quiet", "--filter", f"label={label}").split()
    if found:
        with suppress(PlacementError):  # some may have ended by themselves
            engine.run("rm", "--force", *found)


def sweep(engine: Engine) -> None:
    """Removes containers of this system's races whose lab and shell were both killed."""
    names = engine.run("ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}")
    for race in sorted({name.removeprefix(PREFIX).rpartition("-")[0] for name in names.split()}):
        lab = race.rpartition("-")[0]
        system, _, process = lab.partition("-")
        pid = process.partition("-")[0]
        if system == system_mark() and pid.isdigit() and lab_mark(int(pid)) != lab:
            remove(engine, f"{LABEL}={race}")
