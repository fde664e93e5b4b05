"""Races of the real programs by a lab of its own."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

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
    done = subprocess.run(
        [*prefix, *regatta(*arguments)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout


def race(folder: Path, study: str, *options: str, prefix: Sequence[str] = ()) -> Path:
    """Runs a race of the study to its end and returns its folder."""
    (folder / "study.toml").write_text(study)
    out = folder / "race"
    end_well(folder, "race", "study.toml", "--out", str(out), *options, prefix=prefix)
    return out


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as ledger:
        return ledger.execute(query).fetchall()
