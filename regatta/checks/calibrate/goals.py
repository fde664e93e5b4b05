"""The goals of a calibration, what its parts have in common, and where its result is stored."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import special  # type: ignore[import-untyped]

from regatta.errors import CalibrationError
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.measure import environment
from regatta.measure.programs import Programs
from regatta.measure.race.options import Options
from regatta.record.files import write_whole
from regatta.record.inputs import Calibration, Goal, from_plain, to_plain
from regatta.record.study import Study

TOO_OFTEN = 0.1
"""The goal of 5 % errors is met if this true share is excluded."""
CHANCE = 0.005
"""Probability that a sound instrument misses a goal: small, as there are a dozen goals."""
QUICK_RACES = 2


def interval(wrong: int, of: int) -> tuple[float, float]:
    """The 95 % interval of the share (Clopper and Pearson 1934)."""
    low = special.betaincinv(wrong, of - wrong + 1, LEVEL / 2) if wrong else 0.0
    high = special.betaincinv(wrong + 1, of - wrong, 1 - LEVEL / 2) if wrong < of else 1.0
    return float(low), float(high)


def allowed(races: int) -> int:
    """The most errors in this many races that a true share of 5 % explains."""
    return next(most for most in range(races + 1) if special.bdtrc(most, races, LEVEL) <= CHANCE)


def goal_of(name: str, wrong: Sequence[bool], detail: str) -> Goal:
    """The goal that a table errs in at most 5 % of races.

    It is missed if 5 % cannot explain the errors, and met if twice that share is excluded. In
    between it is not refuted, mostly because there are too few races.
    """
    count, races = sum(wrong), len(wrong)
    goal = f"wrong in at most {100 * LEVEL:g} % of races"
    if not races:
        return Goal(name, goal, "no races", met=None, detail=detail)
    most = allowed(races)
    low, high = (100 * end for end in interval(count, races))
    return Goal(
        name,
        f"{goal}: missed beyond {most} of {races}, met if surely below {100 * TOO_OFTEN:g} %",
        f"{count} of {races} ({low:.1f} to {high:.1f} %)",
        met=False if count > most else True if high < 100 * TOO_OFTEN else None,
        detail=detail,
        value=100 * count / races,
    )


def kind_of(quick: bool) -> str:
    """The folder of the races of a calibration, within its own."""
    return "quick" if quick else "whole"


@dataclass(frozen=True)
class Context:
    """What a part can use while it runs."""

    programs: Programs
    folder: Path
    """The folder of the calibration. A part keeps its files below `folder_for(NAME)`, where they
    may already exist if a stopped calibration continues."""
    options: Options
    """Placement, CPUs and seed for races and loads."""
    quick: bool
    """A smoke test: the least data that runs every step."""
    inject: str | None
    """The injected error."""
    say: Callable[[str], None]
    """Shows one line of progress."""
    race: Callable[[Study, Path], Path]
    """Runs or continues a study in a folder and returns the path of its ledger."""
    races: int | None = None
    """The number of fresh races that the user wants, for each part that needs some."""

    def folder_for(self, name: str) -> Path:
        path = self.folder / kind_of(self.quick) / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def races_of(self, usual: int) -> int:
        if self.races is not None:
            return self.races
        return QUICK_RACES if self.quick else usual


@dataclass(frozen=True)
class CalibrationPart:
    """A group of goals that are measured together."""

    name: str
    """A word for `--only` and for the part's files."""
    says: str
    """A short description for the progress."""
    run: Callable[[Context], list[Goal]]
    takes_s: float
    """About how long it takes on a quiet machine with two fast CPUs."""
    races: int = 0
    """Its default number of fresh races, if the user can choose it."""
    injected: tuple[str, ...] = ()
    """The errors that can be injected into it."""

    def expected_s(self, races: int | None) -> float:
        """About how long it takes with this number of races."""
        if races is None or not self.races:
            return self.takes_s
        return self.takes_s * races / self.races


# The file is named by a hash of the machine's facts, as machines may share a home folder. Its
# content is validated when it is read.

MOST_BYTES = 1 << 20
MACHINE = ("cpu_model", "cpus", "architecture", "virtualisation", "kernel", "clock_source")
"""A calibration is not valid for another kernel or clock."""


def machine() -> dict[str, Any]:
    """The machine that a calibration is valid for."""
    known = environment.facts()
    found = {name: known[name]() for name in MACHINE}
    return found | {"memory_gib": round(environment.memory_bytes() / 2**30)}


def path_for(facts: dict[str, Any]) -> Path:
    """The file of the machine with these facts."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification requires that a relative path is ignored.
    folder = Path(state) if Path(state).is_absolute() else Path.home() / ".local/state"
    text = json.dumps(facts, sort_keys=True)
    return folder / "regatta" / f"calibration-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def save(calibration: Calibration) -> Path:
    path = path_for(calibration.machine)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CalibrationError(f"cannot write {path}: {error.strerror}") from error
    write_whole(path, json.dumps(to_plain(calibration), ensure_ascii=False, indent=2) + "\n")
    return path


def load() -> Calibration | None:
    """The calibration of this machine, or None. CalibrationError if the file is damaged."""
    path = path_for(machine())
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise ValueError("it is too large")
        return from_plain(json.loads(raw))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError:
        # Line and column of the error do not help with a generated file.
        reason = "is not a calibration: it is not JSON"
    except (ValueError, RecursionError) as error:
        reason = f"is not a calibration: {error}"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    raise CalibrationError(f"{path} {reason}; remove it and run `regatta calibrate`")


def for_ledger() -> Calibration | str | None:
    """The calibration for a race, or why its file cannot be read; a race needs none."""
    try:
        return load()
    except CalibrationError as error:
        return str(error)
