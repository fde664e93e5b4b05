"""Runs the parts of a calibration, or continues a stopped one."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from regatta import __version__
from regatta.checks.calibrate import store
from regatta.checks.calibrate.goals import CalibrationPart, Context
from regatta.errors import CalibrationError, RegattaError, UsageError
from regatta.measure.race.folder import RACES, locked
from regatta.record.inputs import VERSION, Calibration, Goal, read_goals

STATE = "calibration.json"


def newest_folder(quick: bool) -> Path | None:
    """The folder of the newest calibration, quick or not, that has races."""
    found: list[tuple[float, Path]] = []
    for path in RACES.glob(f"*/{STATE}"):
        with suppress(CalibrationError):
            of_that_size = read_state(path.parent).get("quick") is quick
            if of_that_size and any(path.parent.glob("**/*.sqlite")):
                found.append((path.stat().st_mtime, path.parent))
    return max(found)[1].absolute() if found else None


def choose(
    parts: Sequence[CalibrationPart], only: Sequence[str], inject: str | None
) -> list[CalibrationPart]:
    """The parts to run: those of `only`, and with an injected error those that it affects."""
    names = [part.name for part in parts]
    for name in only:
        if name not in names:
            raise UsageError(f"--only is {name}; it must be one of {', '.join(names)}")
    known = sorted({error for part in parts for error in part.injected})
    if inject is not None and inject not in known:
        raise UsageError(f"--inject is {inject}; it must be one of {', '.join(known)}")
    chosen = [part for part in parts if not only or part.name in only]
    if inject is not None:
        chosen = [part for part in chosen if inject in part.injected]
        if not chosen:
            raise UsageError(f"--inject {inject} does not affect the parts of --only")
    return chosen


def read_state(folder: Path) -> dict[str, object]:
    """The state of the calibration in a folder; empty if there is none."""
    try:
        state = json.loads((folder / STATE).read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CalibrationError(
            f"{folder / STATE} cannot be read; remove it, or name another --out"
        ) from error
    return state if isinstance(state, dict) else {}


def stored_goals(folder: Path, part: CalibrationPart) -> list[Goal] | None:
    """The goals of a part that were stored in this folder."""
    if part.reads_races:
        return None
    parts = read_state(folder).get("parts")
    plain = parts.get(part.name) if isinstance(parts, dict) else None
    if not isinstance(plain, list) or not plain:
        return None
    try:
        return list(read_goals(plain))
    except ValueError:
        return None


@contextmanager
def locked_folder(folder: Path, quick: bool) -> Iterator[None]:
    """Locks the folder. Raises UsageError if its calibration differs in `--quick`."""
    with locked(folder):
        state = read_state(folder)
        if state.get("quick", quick) is not quick:
            fix = "leave out --quick" if quick else "add --quick"
            raise UsageError(
                f"the calibration in {folder} was started {'without' if quick else 'with'} "
                f"--quick; {fix}, or name another --out"
            )
        if not state:
            write_state(folder, {"version": VERSION, "quick": quick, "parts": {}})
        yield


def write_state(folder: Path, state: dict[str, object]) -> None:
    store.write_whole(folder / STATE, json.dumps(state, ensure_ascii=False, indent=2) + "\n")


def save_goals(folder: Path, part: CalibrationPart, goals: list[Goal]) -> None:
    state = read_state(folder)
    parts = state.get("parts")
    state["parts"] = {
        **(parts if isinstance(parts, dict) else {}),
        part.name: [asdict(goal) for goal in goals],
    }
    write_state(folder, state)


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
    """The goals of all parts. With an injected error nothing is stored in the folder."""
    started_s = time.monotonic()
    goals: list[Goal] = []
    with locked_folder(context.folder, context.quick):
        for number, part in enumerate(parts, start=1):
            head = f"{number}/{len(parts)} {part.name}: {part.says}"
            stored = None if context.inject else stored_goals(context.folder, part)
            if stored is not None:
                progress(f"{head} (stored)")
                goals += stored
                continue
            progress(head)
            found = run_part(part, context)
            goals += found
            if context.inject is None and not any(goal.met is False for goal in found):
                save_goals(context.folder, part, found)
    return Calibration(
        taken_at=time.time(),
        elapsed_s=time.monotonic() - started_s,
        regatta_version=__version__,
        machine=store.machine(),
        goals=tuple(goals),
        quick=context.quick,
        inject=context.inject,
    )
