"""Runs the parts of a calibration, and continues a stopped one."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from regatta import __version__
from regatta.calibrate import store
from regatta.calibrate.goals import CalibrationPart, Context
from regatta.errors import CalibrationError, RegattaError, UsageError
from regatta.ledger.given.calibration import VERSION, Calibration, Goal, read_goals
from regatta.race.folder import RACES, locked

STATE = "calibration.json"


def newest_folder(quick: bool) -> Path | None:
    """The newest calibration of that size that has races."""
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
    """The parts asked for; with an injected error, those it touches."""
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
            raise UsageError(f"--inject {inject} does not touch what --only names")
    return chosen


def read_state(folder: Path) -> dict[str, object]:
    """The folder's state, if any."""
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
    """The part's kept goals in this folder."""
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
def begun(folder: Path, quick: bool) -> Iterator[None]:
    """Locks the folder; an error if it holds a calibration of another size."""
    with locked(folder):
        state = read_state(folder)
        if state.get("quick", quick) is not quick:
            was = "a whole one; leave out --quick" if quick else "a quick one; add --quick"
            raise UsageError(
                f"the calibration that was started in {folder} is {was}, or name another --out"
            )
        if not state:
            write_state(folder, {"version": VERSION, "quick": quick, "parts": {}})
        yield


def write_state(folder: Path, state: dict[str, object]) -> None:
    store.write_whole(folder / STATE, json.dumps(state, ensure_ascii=False, indent=2) + "\n")


def keep(folder: Path, part: CalibrationPart, goals: list[Goal]) -> None:
    state = read_state(folder)
    parts = state.get("parts")
    state["parts"] = {
        **(parts if isinstance(parts, dict) else {}),
        part.name: [asdict(goal) for goal in goals],
    }
    write_state(folder, state)


def run_part(part: CalibrationPart, context: Context) -> list[Goal]:
    """The part's goals. A part that cannot run is a missed goal that says why."""
    try:
        return part.run(context)
    except UsageError:
        raise
    except (RegattaError, OSError) as error:
        message = " ".join(str(error).split())
        return [Goal(part.name, "can be measured", f"failed: {message}", met=False)]


def run(
    parts: Sequence[CalibrationPart], context: Context, tell: Callable[[str], None]
) -> Calibration:
    """All goals of the parts. An injected error leaves no trace in the folder."""
    started_s = time.monotonic()
    goals: list[Goal] = []
    with begun(context.folder, context.quick):
        for number, part in enumerate(parts, start=1):
            head = f"{number}/{len(parts)} {part.name}: {part.says}"
            stored = None if context.inject else stored_goals(context.folder, part)
            if stored is not None:
                tell(f"{head} (kept from before)")
                goals += stored
                continue
            tell(head)
            found = run_part(part, context)
            goals += found
            if context.inject is None and not any(goal.met is False for goal in found):
                keep(context.folder, part, found)
    return Calibration(
        taken_at=time.time(),
        elapsed_s=time.monotonic() - started_s,
        regatta_version=__version__,
        machine=store.machine(),
        goals=tuple(goals),
        quick=context.quick,
        inject=context.inject,
    )
