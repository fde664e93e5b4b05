"""Races of the fake programs within this process; a test that uses it wants `programs_folder`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from regatta.ledger.schema import FILE_NAME
from regatta.machine.perf import Perf, without_perf
from regatta.machine.placement import Placement
from regatta.machine.programs import discover
from regatta.race.advisers import NOBODY, Advisers
from regatta.race.events import Tell
from regatta.race.options import Options
from regatta.race.race import begin, reopen
from regatta.study import Study, parse_study
from regatta.study.design import Design
from regatta.trial.rig import Rig
from tests.lab.fake_programs import DESIGNS

# For a study: the fake programs are raced anywhere.
ON_ONE_CPU = '[placement]\nkind = "loopback"\nserver_cpus = [0]\nclient_cpus = [0]'
TINY = f"""
name = "tiny"
[race]
blocks = 2
counted_blocks = 1
seed = 5
{ON_ONE_CPU}
[[cells]]
designs = ["iterative", "select"]
connections = [3]
requests = 6
"""


class StopError(Exception):
    """Ends a race from within, as a signal would."""


def ignore(_: object) -> None:
    """Who need not know what happens."""


def parse(text: str, folder: Path | None = None) -> Study:
    return parse_study(text, tuple(Design(**one) for one in DESIGNS), folder)


def race(
    study: str | Study,
    folder: Path,
    tell: Tell = ignore,
    advisers: Advisers = NOBODY,
    **options: Any,
) -> Path:
    """All of it; `options`: what the command line may ask for. Returns its folder."""
    known = parse(study) if isinstance(study, str) else study
    return begin(known, Options(out=folder, **options), discover(), tell, advisers)


def resume(folder: Path, tell: Tell = ignore, study: Study | None = None) -> Path:
    return reopen(folder, study, discover(), tell)


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    """Of a race's ledger."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as ledger:
        return ledger.execute(query).fetchall()


def rig(tmp_path: Path, place: Placement, found: Perf | None = None, **more: Any) -> Rig:
    """For trials by themselves; without perf, if none was found."""
    settings = {"events": ("task-clock",), "warmup_rounds": 1, **more}
    return Rig(
        programs=discover(),
        placement=place,
        perf=found or without_perf(None),
        scratch=tmp_path / "scratch",
        **settings,
    )
