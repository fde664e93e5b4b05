"""Today's servers against a stored race of the same servers under the same load.

They race at the rates of the stored race, so that the load is the same and no search is needed.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regatta.errors import LedgerError, UsageError
from regatta.judge.compare.compare import CellComparison, RaceComparison, compare
from regatta.measure.programs import called_with
from regatta.record.cell import MATCHED, Cell
from regatta.record.metrics import P50, P99, PRIMARY
from regatta.record.read import read, read_meta
from regatta.record.schema import FILE_NAME, ledger_path
from regatta.record.study import Study
from regatta.show.numbers import plural, ratio_words
from regatta.verbs.servers.servers import Server

LAST = "last"
THRESHOLD = 0.05
"""Of the comparison's verdict, which is not shown: only the intervals are."""
METRICS = tuple(metric.name for metric in (PRIMARY, P50, P99))


@dataclass(frozen=True)
class Stored:
    """A stored race to compare with."""

    folder: Path
    rates: dict[int, int]
    """Requests per second, by number of connections."""


def find_stored(against: str, studies: Sequence[Study], races: Path) -> Stored:
    """`studies`: today's, which may differ in their connections: the first that the race fits.

    `against`: the folder of a race, or `last`, the newest one that started the servers with the
    same commands.
    """
    is_last = against == LAST
    folders = newest_first(races, studies[0].name) if is_last else [Path(against)]
    why = []
    for folder in folders:
        for study in studies:
            found = stored_in(folder, study, commands=is_last)
            if isinstance(found, Stored):
                return found
            why.append(found)
    if not is_last:
        raise UsageError(f"--against {against}: {why[0]}; name another race")
    raise UsageError(
        f"{races} holds no finished race of these commands under this load; race them once without "
        "--against, or name the folder of a race"
    )


def newest_first(races: Path, study_name: str) -> list[Path]:
    found: list[tuple[float, Path]] = []
    for path in races.glob(f"*/{FILE_NAME}"):
        with suppress(LedgerError):
            meta = read_meta(path)
            if meta.get("study_name") == study_name and "finished_at" in meta:
                found.append((float(meta["created_at"]), path.parent))
    return [folder for _, folder in sorted(found, reverse=True)]


def stored_in(folder: Path, study: Study, commands: bool) -> Stored | str:
    """The race in a folder, or why it cannot be compared with."""
    try:
        ledger = read(ledger_path(folder))
    except LedgerError as error:
        return str(error)
    if commands and not same_commands(ledger.meta, study):
        return "it started other commands"
    rates: dict[int, int] = {}
    for cell in study.cells:
        then = [old.rate for old in ledger.cells if load_of(old) == load_of(cell)]
        if len(then) != 1 or then[0] is None:
            return f"it has no race of {cell.contender} under this load"
        if rates.setdefault(cell.connections, then[0]) != then[0]:
            return "it raced these servers at different rates"
    return Stored(folder, rates)


def load_of(cell: Cell) -> tuple[object, ...]:
    """All that a cell is known by but its rate and duration, which a race chooses itself."""
    plain = cell.at(0) if hasattr(cell, "at") else cell  # without what a matched load has besides
    return replace(plain, load=MATCHED, rate=None, duration_s=None).identity()


def same_commands(meta: dict[str, str], study: Study) -> bool:
    """Whether each contender of the study was started as it is today."""
    then = tomllib.loads(meta.get("study_toml", "")).get("contenders", {})
    folder = meta.get("study_folder", "")
    return all(
        name in then and started(then[name], folder) == started(vars(contender), str(study.folder))
        for name, contender in study.contenders.items()
    )


def started(contender: dict[str, Any], folder: str) -> tuple[object, ...]:
    words = [str(word).replace("{folder}", folder) for word in contender.get("command", ())]
    return (*words, contender.get("image"), contender.get("port"))


def compared(stored: Stored, folder: Path) -> RaceComparison:
    return compare(stored.folder, folder, THRESHOLD, METRICS)


def against_lines(found: RaceComparison, servers: Sequence[Server]) -> Iterator[str]:
    """What changed, in words, and the command that races the old and the new version."""
    yield f"against {found.old.path.parent}, at the same rates:"
    several = len({change.cell.connections for change in found.cells}) > 1
    for change in found.cells:
        cell = change.cell
        at = f", {plural(cell.connections, 'connection')}" if several else ""
        yield f"{cell.contender}{at}, {change.metric.label}: {change_words(change)}"
    first = servers[0]
    words = ["old=COMMAND", f"new={first.name if first.design else shlex.join(first.command)}"]
    if first.image is not None:
        words = ["--image", "old=IMAGE", "--image", f"new={first.image}"]
    yield (
        "Two sittings differ by more than these intervals say. Surer is one race of both versions: "
        f"{called_with('versus', *words)}"
    )


def change_words(change: CellComparison) -> str:
    """Of one metric."""
    ratio = change.closed
    if ratio is None or change.scale != "ratio":
        why = change.why.replace("in NEW:", "today it").replace("in OLD:", "then it")
        return f"cannot be compared: {why}" if why else "cannot be compared"
    figure = ratio_words(ratio, of=" times what it was")
    if ratio.low <= 1 <= ratio.high:
        return f"no change is shown: {figure}"
    return f"{'more' if ratio.low > 1 else 'less'} than before: {figure}"
