"""Fresh races of equal copies, taken together as sittings of one race.

Whatever lasts for a whole race differs between races: the layout of the files, the networks, the
hour. Sittings exist to draw that anew, so several races make a race in as many sittings, and
whatever its report tells apart is a false alarm. Nothing is raced for it.
"""

from collections.abc import Sequence
from dataclasses import replace

from regatta.analysis.analyse import analyse
from regatta.calibrate.equals.reported import distinguished, in_pairs
from regatta.ledger.records import RaceRecord, Trial

SITTINGS = 5
"""As the docs recommend."""


def grouped(races: int) -> list[range]:
    """Which races form one of several sittings; leftovers form none."""
    return [range(at, at + SITTINGS) for at in range(0, races - SITTINGS + 1, SITTINGS)]


def distinguished_in_sittings(ledgers: Sequence[RaceRecord]) -> dict[str, list[str]]:
    """By metric, or `claims`: where two equals were told apart."""
    return distinguished(analyse(as_sittings([in_pairs(ledger) for ledger in ledgers])))


def as_sittings(ledgers: Sequence[RaceRecord]) -> RaceRecord:
    """One race with all their trials, in the cells of the first."""
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
