"""Runs a study's race in its folder: starts it, resumes it, or finds it finished."""

from collections.abc import Callable
from pathlib import Path

from regatta.ledger.read import read_meta
from regatta.ledger.schema import FILE_NAME
from regatta.machine.programs import Programs
from regatta.race.events import Display
from regatta.race.hooks import Hooks
from regatta.race.options import Options
from regatta.race.race import begin, reopen
from regatta.study import Study

RaceOnce = Callable[[Study, Path], Path]
"""Runs a study's race in the given folder; returns its ledger."""


def is_finished(path: Path) -> bool:
    return path.exists() and "finished_at" in read_meta(path)


def race_with(
    programs: Programs, options: Options, display: Callable[[], Display], hooks: Hooks
) -> RaceOnce:
    """A function that runs each study's race once, however often it is called."""

    def race(study: Study, folder: Path) -> Path:
        path = folder / FILE_NAME
        if is_finished(path):
            return path
        with display() as show:
            if path.exists():
                # With the recorded study, as the length of a spin was measured at its start.
                reopen(folder, None, programs, show, hooks)
            else:
                race_options = Options(**{**vars(options), "out": folder})
                begin(study, race_options, programs, show, hooks)
        return path

    return race
