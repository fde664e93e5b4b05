"""Runs the races of a part of a calibration."""

import time
from collections.abc import Callable
from pathlib import Path

from regatta.calibrate.goals import Context
from regatta.calibrate.shape import Shape, about_s
from regatta.ledger.schema import FILE_NAME
from regatta.race.race_once import is_finished
from regatta.show.text import duration
from regatta.study import Study


def folder_of(context: Context, part: str, shape: Shape, number: int) -> Path:
    """The folder of a race of a part; numbers start at 1."""
    return context.folder_for(f"{part}/{shape.name}-{number:02}")


def run_races(
    context: Context, part: str, shape: Shape, wanted: int, study_of: Callable[[int], Study]
) -> list[Path]:
    """Runs the races that are not finished and returns the ledgers of all."""
    paths = [folder_of(context, part, shape, at + 1) / FILE_NAME for at in range(wanted)]
    finished = [path for path in paths if is_finished(path)]
    if context.inject and finished:
        return finished  # an injected error is applied to existing races
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
