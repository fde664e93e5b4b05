"""Whose containers are removed, and whose are not."""

import os
import subprocess
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from regatta.errors import PlacementError
from regatta.measure.places.containers.reaper import Reaper, lab_mark, sweep, system_mark
from tests.processes import is_gone
from tests.waiting import wait_until

# Keeps one file a container, named as it is, with its label in it.
ENGINE = """#!/bin/sh
cd "{folder}" || exit
case $1 in
    ps) for label; do :; done
        for name in *; do
            [ -e "$name" ] || continue
            case $* in
                *"{{{{.Names}}}}"*) echo "$name" ;;
                *) case "$*" in *"label=$(cat "$name")"*) echo "$name" ;; esac ;;
            esac
        done ;;
    rm) shift 2; rm -f "$@" ;;
esac
"""


@dataclass
class FakeEngine:
    """One whose containers are files."""

    path: str
    folder: Path
    name: str = "podman"
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, *words: str) -> str:
        done = subprocess.run([self.path, *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PlacementError("refused")
        return done.stdout

    def make(self, race: str, number: int = 1) -> Path:
        path = self.folder / f"regatta-{race}-{number}"
        path.write_text(f"regatta.race={race}")
        return path

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name != "*")


@pytest.fixture
def engine(tmp_path: Path) -> FakeEngine:
    folder = tmp_path / "containers"
    folder.mkdir()
    program = tmp_path / "engine"
    program.write_text(ENGINE.format(folder=folder))
    program.chmod(0o755)
    return FakeEngine(str(program), folder)


def test_a_race_that_ends_takes_its_containers_and_leaves_others(engine: FakeEngine) -> None:
    second = engine.make("elsewhere-1234")
    held = Reaper(engine)
    engine.make(held.race, 1)
    engine.make(held.race, 2)
    held.close()
    assert engine.names() == [second.name]
    assert is_gone(held.shell.pid)


def test_the_names_of_a_race_differ(engine: FakeEngine) -> None:
    with closing(Reaper(engine)) as first, closing(Reaper(engine)) as second:
        assert len({first.name(), first.name(), second.name(), second.name()}) == 4


def test_when_the_lab_is_gone_the_shell_removes_them(engine: FakeEngine) -> None:
    held = Reaper(engine)
    engine.make(held.race)
    assert held.shell.stdin
    held.shell.stdin.close()  # as the kernel does it
    wait_until(lambda: not engine.names(), "they are still there")
    assert held.shell.wait(20) == 0


def test_a_sweep_removes_only_races_of_this_system_whose_lab_is_gone(engine: FakeEngine) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    for lab in (f"{gone.pid}-1", f"{os.getpid()}-1"):  # another process had this id
        engine.make(f"{system_mark()}-{lab}-abcd")
    alive = engine.make(f"{lab_mark(os.getppid())}-abcd")
    foreign = [engine.make(race) for race in ("0badcafe-1-1-abcd", "0badcafe-1234")]
    sweep(engine)
    assert engine.names() == sorted(path.name for path in (alive, *foreign))


def test_what_cannot_be_removed_is_left_to_the_shell(engine: FakeEngine) -> None:
    held = Reaper(engine)
    engine.make(held.race)
    Path(engine.path).rename(f"{engine.path}.gone")
    with pytest.raises(OSError, match="engine"):
        held.close()
    Path(f"{engine.path}.gone").rename(engine.path)
    wait_until(lambda: not engine.names(), "they are still there")
    held.shell.wait(20)
