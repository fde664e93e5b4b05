"""The trials of a calibration's race, by contender and block, ready to be drawn from."""

from __future__ import annotations

import statistics
import zlib
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from regatta.errors import LedgerError
from regatta.ledger_read import Trial, connect, read
from regatta.samples import HEADER, records_in

Blocks = dict[int, Trial]
"""The trial of each block that says something."""


@dataclass(frozen=True)
class Raced:
    timed: dict[str, Blocks]
    """By contender."""
    counted: dict[str, Blocks]
    seconds_per_trial: float
    """From the start of one to that of the next, whatever it holds beside the load."""

    def shared(self, kind: str, names: tuple[str, ...]) -> list[int]:
        """The blocks in which all of these have a trial of that kind."""
        by_name: dict[str, Blocks] = getattr(self, kind)
        found = [set(by_name.get(name, {})) for name in names]
        return sorted(set.intersection(*found))


def read_raced(path: Path) -> Raced:
    ledger = read(path)
    names = {cell.id: cell.contender for cell in ledger.cells}
    timed: dict[str, Blocks] = {}
    counted: dict[str, Blocks] = {}
    for trial in ledger.trials:
        if trial.counts:
            place = timed if trial.kind == "timed" else counted
            place.setdefault(names[trial.cell_id], {})[trial.block] = unpacked(trial)
    return Raced(timed, counted, pace_s(path, len(names)))


def unpacked(trial: Trial) -> Trial:
    """The same with its samples sorted and stored plainly: it is read thousands of times."""
    if not trial.samples:
        return trial
    try:
        raw = zlib.decompress(trial.samples)
    except zlib.error as error:
        raise LedgerError(f"samples cannot be unpacked ({error}); is the ledger whole?") from error
    records = records_in(raw)
    order = np.argsort(records["end_ns"] - records["start_ns"], kind="stable")
    plain = raw[: HEADER.size] + records[order].tobytes()
    return replace(trial, samples=zlib.compress(plain, 0))


def pace_s(path: Path, cells: int) -> float:
    """The median time of a block, in trials; the median, as a race may have been stopped."""
    with connect(path) as connection:
        query = "SELECT min(started_at) FROM trial GROUP BY block ORDER BY 1"
        starts = [float(row[0]) for row in connection.execute(query)]
    between = [later - earlier for earlier, later in pairwise(starts)]
    return statistics.median(between) / cells if between else 0.0
