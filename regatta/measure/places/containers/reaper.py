"""Removes a race's containers, which carry its label, however the race ends.

A race that ends or is interrupted removes them itself. If it is killed, a shell removes them that
waits for the lab's end of a pipe to close. If the shell is killed too, the next race removes
labelled containers whose lock is free.
"""

from __future__ import annotations

import hashlib
import itertools
import platform
import secrets
import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path

from regatta.errors import PlacementError
from regatta.measure.accounts.cgroup import lock_group
from regatta.measure.places.containers.engine import Engine
from regatta.measure.processes import guard_environment, read_text

LABEL = "regatta.race"
PREFIX = "regatta-"
LOCKS = Path("/run/regatta")
MAKE_TRIES = 10
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
rmdir "$2"
"""


def machine_mark() -> str:
    """Identifies this system, as several may share one engine: a lab sees only its own system's
    locks, so it must not remove containers of another."""
    of = f"{read_text('/etc/machine-id')} {platform.node()}"
    return hashlib.sha256(of.encode()).hexdigest()[:8]


class Reaper:
    """Removes one lab's containers when it is closed."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.race, self.folder, self.lock = take_lock()
        self.numbers = itertools.count(1)
        self.shell = subprocess.Popen(
            ["/bin/sh", "-c", WATCH, engine.path, self.label, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=guard_environment(),
            start_new_session=True,
        )

    @property
    def label(self) -> str:
        return f"{LABEL}={self.race}"

    def name(self) -> str:
        """The name for the next container."""
        return f"{PREFIX}{self.race}-{next(self.numbers)}"

    def close(self) -> None:
        """Removes the remaining containers, then the lock."""
        assert self.shell.stdin
        try:
            remove(self.engine, self.label)
        except BaseException:
            self.lock.close()
            self.shell.stdin.close()  # makes the shell remove them
            raise
        self.shell.kill()
        self.shell.wait()
        self.shell.stdin.close()
        with self.lock, suppress(OSError):
            self.folder.rmdir()


def take_lock() -> tuple[str, Path, ExitStack]:
    """A new id for a race, and a folder that stays locked until this process ends."""
    try:
        LOCKS.mkdir(mode=0o700, exist_ok=True)
        for _ in range(MAKE_TRIES):
            race = f"{machine_mark()}-{secrets.token_hex(4)}"
            (LOCKS / race).mkdir()
            lock = lock_group(LOCKS / race)
            if lock is not None:
                return race, LOCKS / race, lock
    except OSError as error:
        raise PlacementError(f"cannot lock {LOCKS}: {error.strerror}; race as root") from error
    raise PlacementError(f"the locks in {LOCKS} were removed as soon as they were created")


def remove(engine: Engine, label: str) -> None:
    """Removes all containers with this label, running or not."""
    found = engine.run("ps", "--all", "--quiet", "--filter", f"label={label}").split()
    if found:
        with suppress(PlacementError):  # some may have ended by themselves
            engine.run("rm", "--force", *found)


def sweep(engine: Engine) -> None:
    """Removes containers of this system's races whose lab and shell were both killed."""
    names = engine.run("ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}")
    races = {name.removeprefix(PREFIX).rpartition("-")[0] for name in names.split()}
    with suppress(OSError):
        races |= {path.name for path in LOCKS.iterdir()}
    for race in sorted(race for race in races if race.startswith(f"{machine_mark()}-")):
        folder = LOCKS / race
        lock = lock_group(folder)
        if lock is None and folder.exists():
            continue  # that race is running
        with lock or ExitStack(), suppress(OSError):
            remove(engine, f"{LABEL}={race}")
            folder.rmdir()
