"""Races that a calibration runs: new ones, and those that were stopped."""

import time
from collections.abc import Callable
from pathlib import Path

from regatta.calibrate.goals import Context
from regatta.calibrate.shape import Shape, about_s
from regatta.ledger.read import read_meta
from regatta.ledger.schema import FILE_NAME
from regatta.machine.programs import Programs
from regatta.race.events import Display
from regatta.race.hooks import Hooks
from regatta.race.options import Options
from regatta.race.race import begin, reopen
from regatta.report.text.durations import duration
from regatta.study import Study


def is_finished(path: Path) -> bool:
    return path.exists() and "finished_at" in read_meta(path)


def race_with(
    programs: Programs, options: Options, display: Callable[[], Display], hooks: Hooks
) -> Callable[[Study, Path], Path]:
    """For parts: races a study in a folder of its own."""

    def race(study: Study, folder: Path) -> Path:
        path = folder / FILE_NAME
        if is_finished(path):
            return path
        with display() as show:
            if path.exists():
                # Its own study, not today's: the length of a spin was measured then.
                reopen(folder, None, programs, show, hooks)
            else:
                race_options = Options(**{**vars(options), "out": folder})
                begin(study, race_options, programs, show, hooks)
        return path

    return race


def folder_of(context: Context, part: str, shape: Shape, number: int) -> Path:
    """The folder of one of a part's races; numbers begin at 1."""
    return context.folder_for(f"{part}/{shape.name}-{number:02}")


def run_races(
    context: Context, part: str, shape: Shape, wanted: int, study_of: Callable[[int], Study]
) -> list[Path]:
    """The ledgers of that many races, including finished ones."""
    paths = [folder_of(context, part, shape, at + 1) / FILE_NAME for at in range(wanted)]
    finished = [path for path in paths if is_finished(path)]
    if context.inject and finished:
        return finished  # an injected error needs no races of its own
    left, done, begun_s = wanted - len(finished), 0, time.monotonic()
    for number, path in enumerate(paths, start=1):
        if path in finished:
            continue
        study = study_of(number)
        each_s = (time.monotonic() - begun_s) / done if done else about_s(study)
        progress = f"{shape.words()}; about {duration(each_s * (left - done))} left"
        context.say(f"race {number} of {wanted}, {progress}")
        context.race(study, path.parent)
        done += 1
    return paths
