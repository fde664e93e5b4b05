"""Races of the real programs by a lab of its own."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.commands import run_well
from tests.processes import MARK

ROOT = Path(__file__).resolve().parents[2]
needs_programs = pytest.mark.skipif(
    not (ROOT / "bin" / "regatta-client").exists(), reason="the programs are not built: make build"
)


def environment(mark: str = "") -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), MARK: mark, "REGATTA_BIN": str(ROOT / "bin")}


def regatta(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "regatta", *arguments]


def end_well(folder: Path, *arguments: str, prefix: Sequence[str] = ()) -> None:
    """The verb runs to its end, with status 0."""
    command = (*prefix, *regatta(*arguments))
    run_well(*command, cwd=folder, env=environment(), timeout=300)


def study(cells: str, blocks: int = 1, counted_blocks: int = 0, **race: object) -> str:
    """A race of these cells; tests run beside others, so nothing in it is called disturbed."""
    race |= {"blocks": blocks, "counted_blocks": counted_blocks, "seed": 3}
    race["disturbance_limit_percent"] = 1e6
    keys = "".join(f"{key} = {value}\n" for key, value in race.items())
    return f'name = "tested"\n[race]\n{keys}{cells}'


def race(folder: Path, study: str, *options: str, prefix: Sequence[str] = ()) -> Path:
    """Runs a race of the study to its end and returns its folder."""
    (folder / "study.toml").write_text(study)
    out = folder / "race"
    end_well(folder, "race", "study.toml", "--out", str(out), *options, prefix=prefix)
    return out
