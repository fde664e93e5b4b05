"""Combines fresh races of equal copies into one race in several sittings.

Effects that last for a whole race (file layout, networks, time of day) vary between sittings, as
they do between fresh races. Every difference that the combined race reports is a false alarm.
"""

from collections.abc import Sequence
from dataclasses import replace

from regatta.analysis.analyse import analyse
from regatta.calibrate.equals.reported import distinguished, in_pairs
from regatta.ledger.records import RaceRecord, Trial

SITTINGS = 5
"""The number that the documentation recommends."""


def grouped(races: int) -> list[range]:
    """The races that form each combined race; a remainder is not used."""
    return [range(at, at + SITTINGS) for at in range(0, races - SITTINGS + 1, SITTINGS)]


def distinguished_in_sittings(ledgers: Sequence[RaceRecord]) -> dict[str, list[str]]:
    """By metric or `claims`, where two equals were distinguished."""
    return distinguished(analyse(as_sittings([in_pairs(ledger) for ledger in ledgers])))


def as_sittings(ledgers: Sequence[RaceRecord]) -> RaceRecord:
    """One race with the trials of all, in the cells of the first."""
    first = ledgers[0]
    cell_at = {(cell.contender, cell.connections): cell.id for cell in first.cells}
    trials: list[Trial] = []
    blocks = 0
    for number, ledger in enumerate(ledgers, start=1):
        cell_keys = {cell.id: (cell.contender, cell.connections) for cell in ledger.cells}
        trials += [
            replace(
                trial,
                id=len(trials) + at,
                block=blocks + trial.block,
                cell_id=cell_at[cell_keys[trial.cell_id]],
                sitting=number,
            )
            for at, trial in enumerate(ledger.trials, start=1)
        ]
        blocks += max((trial.block for trial in ledger.trials), default=0)
    meta = {**first.meta, "sittings": str(len(ledgers))}
    return replace(first, meta=meta, trials=trials, planned=len(trials))
