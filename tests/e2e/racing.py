"""Run the lab's verbs with the real programs, each in its own process."""

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run_well
from tests.ledgers import rows
from tests.processes import MARK

ROOT = Path(__file__).resolve().parents[2]
needs_programs = pytest.mark.skipif(
    not (ROOT / "bin" / "regatta-client").exists(), reason="the programs are not built: make build"
)

needs_two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="this machine has one CPU only"
)

TWO_DESIGNS = """
[[cells]]
designs = ["select", "thread-per-client"]
connections = [10]
work = "snapshot"
requests = 40
"""
FOUR_SECONDS = """
[[cells]]
designs = ["select"]
connections = [4]
work = "snapshot"
load = "closed"
duration_s = 4
"""
"""Long enough to be cut off in the middle."""


PRIORITY = ("nice", "-n", "-15") if os.geteuid() == 0 else ()
"""Over parallel tests, for what needs a rate: a starved server holds none."""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Of all tests that need a rate: two would take it from each other."""
    with (ROOT / "build" / "rate.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def environment(mark: str = "") -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), MARK: mark, "REGATTA_BIN": str(ROOT / "bin")}


def regatta(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "regatta", *arguments]


def end_well(
    folder: Path,
    *arguments: str,
    prefix: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> None:
    """Runs a verb, which must exit with status 0."""
    command = (*prefix, *regatta(*arguments))
    run_well(*command, cwd=folder, env=env or environment(), timeout=300)


def begin(
    folder: Path,
    *arguments: str,
    prefix: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts a verb in the background. Its processes are marked with the folder's name."""
    return subprocess.Popen(
        [*prefix, *regatta(*arguments)],
        cwd=folder,
        env=env or environment(folder.name),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def study(cells: str, blocks: int = 1, counted_blocks: int = 0, **race: object) -> str:
    """A study of these cells. No trial counts as disturbed, because tests run in parallel, and
    servers get one round of requests unless they are to be warmed."""
    race = {"warmup_limit_s": 0} | race
    race |= {"blocks": blocks, "counted_blocks": counted_blocks, "seed": 3}
    race["disturbance_limit_percent"] = 1e6
    keys = "".join(f"{key} = {value}\n" for key, value in race.items())
    return f'name = "tested"\n[race]\n{keys}{cells}'


def assert_complete(out: Path) -> None:
    """Every planned trial is there, once, and none has failed."""
    what = "block, position, cell_id, kind"
    planned = rows(out, f"SELECT {what} FROM plan ORDER BY 1, 2")
    assert planned
    assert rows(out, f"SELECT {what} FROM trial ORDER BY 1, 2") == planned
    assert rows(out, "SELECT DISTINCT status FROM trial") == [("ok",)]


def race(folder: Path, study: str, *options: str, **how: Any) -> Path:
    """Runs a race of the study and returns its folder. `how`: as of `end_well`."""
    (folder / "study.toml").write_text(study)
    out = folder / "race"
    end_well(folder, "race", "study.toml", "--out", str(out), *options, **how)
    return out
