"""Races that a calibration runs: new ones, and those that were stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from regatta.ledger import FILE_NAME, open_ledger
from regatta.programs import Programs
from regatta.progress import Display
from regatta.race import Options, begin, reopen
from regatta.study import Study


def is_finished(path: Path) -> bool:
    if not path.exists():
        return False
    with open_ledger(path) as book:
        return book.meta("finished_at") is not None


def race_with(
    programs: Programs, options: Options, display: Callable[[], Display]
) -> Callable[[Study, Path], Path]:
    """What a part calls to have a study raced in a folder of its own."""

    def race(study: Study, folder: Path) -> Path:
        path = folder / FILE_NAME
        if is_finished(path):
            return path
        with display() as show:
            if path.exists():
                # Its own study and not today's: the length of a spin, for one, was measured then.
                reopen(folder, None, programs, show)
            else:
                begin(study, Options(**{**vars(options), "out": folder}), programs, show)
        return path

    return race
