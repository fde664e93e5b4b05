"""Races of the fake programs within this process; tests need `programs_folder`."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from regatta.measure.perf import Perf
from regatta.measure.places.placement import make_placement
from regatta.measure.places.sides import Placement
from regatta.measure.programs import discover
from regatta.measure.race.events import Event, Tell, TrialFinished
from regatta.measure.race.options import NO_HOOKS, Hooks, Options
from regatta.measure.race.race import begin, reopen
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.trial import run_side_by_side
from regatta.record.cell import Cell
from regatta.record.records import TIMED, Trial
from regatta.record.study import Study, parse_study
from regatta.record.study.find import Design
from tests.lab.fake_programs import DESIGNS

# For a study: the fake programs are raced anywhere.
ON_ONE_CPU = '[placement]\nkind = "loopback"\nserver_cpus = [0]\nclient_cpus = [0]'
PAIR = '[[cells]]\ndesigns = ["iterative", "select"]\n'


def on_one_cpu(cells: str, **race: object) -> str:
    """A race of these cells, with what its [race] says."""
    # The fakes are as warm at first as at last.
    keys = "".join(f"{key} = {value}\n" for key, value in {"warmup_limit_s": 0, **race}.items())
    return f'name = "tiny"\n[race]\n{keys}{ON_ONE_CPU}\n{cells}'


TINY = on_one_cpu(f"{PAIR}connections = [3]\nrequests = 6", blocks=2, counted_blocks=1, seed=5)


def of_server(code: str, folder: Path, cells: str, keys: str = "") -> Study:
    """Of somebody's own server, `mine`: this Python program, with these keys of its table."""
    (folder / "server.py").write_text(code)
    command = [sys.executable, "{folder}/server.py", "{host}", "{port}"]
    mine = f"[contenders.mine]\ncommand = {json.dumps(command)}\n{keys}\n"
    cells = f'[[cells]]\ncontenders = ["mine"]\ndialect = "http"\nload = "burst"\n{cells}\n'
    return parse(f'name = "mine"\n{mine}{cells}', folder)


class StopError(Exception):
    """Ends a race from within, as a signal would."""


def ignore(_: object) -> None:
    """Who need not know what happens."""


def parse(text: str, folder: Path | None = None) -> Study:
    return parse_study(text, tuple(Design(**design) for design in DESIGNS), folder)


def race(
    study: str | Study,
    folder: Path,
    tell: Tell = ignore,
    hooks: Hooks = NO_HOOKS,
    **options: Any,
) -> Path:
    """All of it; `options`: what the command line may ask for. Returns its folder."""
    known = parse(study) if isinstance(study, str) else study
    return begin(known, Options(out=folder, **options), discover(), tell, hooks)


def stopped(
    study: str | Study,
    folder: Path,
    at: type[Event] = TrialFinished,
    after: int = 0,
    **options: Any,
) -> list[Event]:
    """Races until such an event, of a trial beyond this number; returns what was told by then."""
    events: list[Event] = []

    def stop(event: Event) -> None:
        events.append(event)
        if isinstance(event, at) and getattr(event, "number", after + 1) > after:
            raise StopError

    with pytest.raises(StopError):
        race(study, folder, stop, **options)
    return events


def resume(folder: Path, tell: Tell = ignore, study: Study | None = None) -> Path:
    return reopen(folder, study, discover(), tell)


def trial_setup(
    tmp_path: Path, place: Placement, found: Perf | None = None, **more: Any
) -> TrialSetup:
    """For trials by themselves; without perf, if none was found."""
    settings = {"events": ("task-clock",), **more}
    return TrialSetup(
        programs=discover(),
        placement=place,
        perf=found or Perf(),
        scratch=tmp_path / "scratch",
        **settings,
    )


def run_here(
    tmp_path: Path, cell: Cell, kind: str = TIMED, found: Perf | None = None, **more: Any
) -> Trial:
    """The same on loopback, both sides on the first CPU; `more`: of the TrialSetup."""
    with make_placement("loopback", [0], [0]) as place:
        return run_trial(trial_setup(tmp_path, place, found, **more), cell, kind)


def run_trial(setup: TrialSetup, cell: Cell, kind: str) -> Trial:
    """Runs one trial by itself."""
    return run_side_by_side(setup, [cell], kind, block=0, slices=1)[0]
