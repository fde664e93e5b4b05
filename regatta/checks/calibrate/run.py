"""Runs the parts of a calibration, or continues a stopped one."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from regatta import __version__
from regatta.checks.calibrate.goals import CalibrationPart, Context, kind_of, machine
from regatta.errors import RegattaError, UsageError
from regatta.record.files import RACES, locked
from regatta.record.inputs import Calibration, Goal


def newest_folder(quick: bool) -> Path | None:
    """The folder of the newest calibration, quick or not, that has races."""
    ledgers = RACES.glob(f"*/{kind_of(quick)}/**/*.sqlite")
    newest = max(ledgers, key=lambda path: path.stat().st_mtime, default=None)
    return None if newest is None else (RACES / newest.relative_to(RACES).parts[0]).absolute()


def choose(
    parts: Sequence[CalibrationPart], only: Sequence[str], inject: str | None
) -> list[CalibrationPart]:
    """The parts to run: those of `only`, and with an injected error those that it affects."""
    known = {"--only": [part.name for part in parts]}
    known["--inject"] = sorted({error for part in parts for error in part.injected})
    asked = [("--only", name) for name in only] + ([("--inject", inject)] if inject else [])
    for option, word in asked:
        if word not in known[option]:
            raise UsageError(f"{option} is {word}; it must be one of {', '.join(known[option])}")
    chosen = [
        part
        for part in parts
        if (not only or part.name in only) and (inject is None or inject in part.injected)
    ]
    if not chosen:
        raise UsageError(f"--inject {inject} does not affect the parts of --only")
    return chosen


def run_part(part: CalibrationPart, context: Context) -> list[Goal]:
    """The goals of a part. A part that fails is a missed goal with the reason."""
    try:
        return part.run(context)
    except UsageError:
        raise
    except (RegattaError, OSError) as error:
        message = " ".join(str(error).split())
        return [Goal(part.name, "can be measured", f"failed: {message}", met=False)]


def run(
    parts: Sequence[CalibrationPart], context: Context, progress: Callable[[str], None]
) -> Calibration:
    """The goals of all parts. Races that are finished in the folder are not raced again."""
    started_s = time.monotonic()
    goals: list[Goal] = []
    with locked(context.folder):
        for number, part in enumerate(parts, start=1):
            progress(f"{number}/{len(parts)} {part.name}: {part.says}")
            goals += run_part(part, context)
    return Calibration(
        taken_at=time.time(),
        elapsed_s=time.monotonic() - started_s,
        regatta_version=__version__,
        machine=machine(),
        goals=tuple(goals),
        quick=context.quick,
        inject=context.inject,
    )
