"""The leash of a race: its containers bear its label, and go when it ends, however it ends.

A race that ends, or is stopped by Ctrl-C, removes them. Of one that is killed outright a shell does
it that waits on a pipe of the lab's. And should that be killed too, the next race finds what is
labelled and whose lock nobody holds.
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
from regatta.machine.cgroup import lock_group
from regatta.machine.containers.engine import Engine
from regatta.machine.guard import guard_environment
from regatta.machine.proc import read_text

LABEL = "regatta.race"
PREFIX = "regatta-"
LOCKS = Path("/run/regatta")
MAKE_TRIES = 10
# What the engine was starting when the lab was killed may appear a moment after the first look.
WATCH = """
trap '' INT TERM HUP
read -r end
calm=0 looks=0
while [ "$calm" -lt 5 ] && [ "$looks" -lt 100 ]; do
    looks=$((looks + 1))
    found=$("$0" ps --all --quiet --filter "label=$1")
    if [ -n "$found" ]; then
        calm=0
        "$0" rm --force $found
    else
        calm=$((calm + 1))
    fi
    sleep 0.2
done
rmdir "$2"
"""


def machine_mark() -> str:
    """Tells apart the labs of different systems that share one engine: each sees only its own
    locks, and may not take another's container for one that was left."""
    of = f"{read_text('/etc/machine-id')} {platform.node()}"
    return hashlib.sha256(of.encode()).hexdigest()[:8]


class Leash:
    """The containers of one lab. Close it to remove them."""

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
        """Of the next container."""
        return f"{PREFIX}{self.race}-{next(self.numbers)}"

    def close(self) -> None:
        """Removes all that is left, then lets go."""
        assert self.shell.stdin
        try:
            remove(self.engine, self.label)
        except BaseException:
            self.lock.close()
            self.shell.stdin.close()  # then the shell removes them
            raise
        self.shell.kill()
        self.shell.wait()
        self.shell.stdin.close()
        with self.lock, suppress(OSError):
            self.folder.rmdir()


def take_lock() -> tuple[str, Path, ExitStack]:
    """A new name for a race, and a folder that is locked as long as this process lives."""
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
    """All containers with this label, whatever they do."""
    found = engine.run("ps", "--all", "--quiet", "--filter", f"label={label}").split()
    if found:
        with suppress(PlacementError):  # one that ends by itself is gone already
            engine.run("rm", "--force", *found)


def sweep(engine: Engine) -> None:
    """Removes what races of this system have left whose lab and shell were both killed."""
    names = engine.run("ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}")
    races = {name.removeprefix(PREFIX).rpartition("-")[0] for name in names.split()}
    with suppress(OSError):
        races |= {path.name for path in LOCKS.iterdir()}
    for race in sorted(race for race in races if race.startswith(f"{machine_mark()}-")):
        folder = LOCKS / race
        lock = lock_group(folder)
        if lock is None and folder.exists():
            continue  # it is being raced
        with lock or ExitStack(), suppress(OSError):
            remove(engine, f"{LABEL}={race}")
            folder.rmdir()
