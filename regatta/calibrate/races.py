"""The races that a part of a calibration rests on."""

import time
from collections.abc import Callable
from pathlib import Path

from regatta.calibrate.goals import Context
from regatta.calibrate.shape import Shape, about_s
from regatta.ledger.schema import FILE_NAME
from regatta.race.once import is_finished
from regatta.report.text.durations import duration
from regatta.study import Study


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
