"""Runs the parts of a calibration, or continues a stopped one."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from regatta import __version__
from regatta.checks.calibrate.goals import CalibrationPart, Context, machine
from regatta.errors import CalibrationError, RegattaError, UsageError
from regatta.record.files import RACES, locked, write_whole
from regatta.record.inputs import VERSION, Calibration, Goal

STATE = "calibration.json"


def newest_folder(quick: bool) -> Path | None:
    """The folder of the newest calibration, quick or not, that has races."""
    found: list[tuple[float, Path]] = []
    for path in RACES.glob(f"*/{STATE}"):
        with suppress(CalibrationError):
            if is_quick(path.parent) is quick and any(path.parent.glob("**/*.sqlite")):
                found.append((path.stat().st_mtime, path.parent))
    return max(found)[1].absolute() if found else None


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


def is_quick(folder: Path) -> bool | None:
    """Whether the calibration in a folder was started with --quick; None if there is none."""
    try:
        return bool(json.loads((folder / STATE).read_text())["quick"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CalibrationError(
            f"{folder / STATE} cannot be read; remove it, or name another --out"
        ) from error


@contextmanager
def locked_folder(folder: Path, quick: bool) -> Iterator[None]:
    """Locks the folder. Raises UsageError if its calibration differs in `--quick`."""
    with locked(folder):
        was_quick = is_quick(folder)
        if was_quick is None:
            write_whole(folder / STATE, json.dumps({"version": VERSION, "quick": quick}) + "\n")
        elif was_quick is not quick:
            fix = "leave out --quick" if quick else "add --quick"
            raise UsageError(
                f"the calibration in {folder} was started {'without' if quick else 'with'} "
                f"--quick; {fix}, or name another --out"
            )
        yield


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
    with locked_folder(context.folder, context.quick):
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
