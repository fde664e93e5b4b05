"""Pairs the cells of two races under a matched load by their share of the weakest one's capacity.

Each race searches for that capacity itself, so the same share is a different rate in each race. The
cells of the old race get the rates of the new race, so that comparisons pair them.
"""

from dataclasses import replace

from regatta.ledger.cell import Cell
from regatta.ledger.records import RaceRecord
from regatta.study.matched import MATCHED

Load = tuple[object, ...]
"""Identifies a matched load: the cells without contender and rate."""
MOST_SHOWN = 3


def align_rates(new: RaceRecord, old: RaceRecord) -> tuple[RaceRecord, str]:
    """The old race with the rates of the new one, and a note; empty if nothing changed."""
    ours = _rates(new)
    rates = {
        (load, then): ours[load][share]
        for load, theirs in _rates(old).items()
        for share, then in theirs.items()
        if then != ours.get(load, {}).get(share, then)
    }
    cells = [
        cell
        if cell.rate is None
        else replace(cell, rate=rates.get((_load(cell), cell.rate), cell.rate))
        for cell in old.cells
    ]
    return replace(old, cells=cells), _words(sorted({(key[1], now) for key, now in rates.items()}))


def _rates(ledger: RaceRecord) -> dict[Load, dict[float, int]]:
    """The rate of each share, by load. Loads to which the study adds other rates are left out."""
    found: dict[Load, dict[float, int]] = {}
    for search in ledger.searches:
        wanted = _searched(search.cell).identity()
        cells = (cell for cell in ledger.cells if _searched(cell).identity() == wanted)
        rates = sorted(cell.rate for cell in cells if cell.rate is not None)
        if len(rates) == len(search.cell.shares):
            found[_load(search.cell)] = dict(zip(sorted(search.cell.shares), rates, strict=True))
    return found


def _load(cell: Cell) -> Load:
    return _searched(cell).comparison_key()


def _searched(cell: Cell) -> Cell:
    """The cell as it was before the race chose its rate and how long it is measured."""
    return replace(cell, load=MATCHED, rate=None, duration_s=None)


def align_durations(old: RaceRecord, new: RaceRecord) -> RaceRecord:
    """The old race with windows as long as the new one's: `versus` chooses that by the time left.

    Only where a race has one length of each load: else the length tells its loads apart.
    """
    then, now = _durations(old), _durations(new)
    return replace(
        old,
        cells=[
            replace(cell, duration_s=next(iter(now[load])))
            if (load := _without_duration(cell)) in now and len(then[load]) == len(now[load]) == 1
            else cell
            for cell in old.cells
        ],
    )


def _durations(ledger: RaceRecord) -> dict[Load, set[float | None]]:
    found: dict[Load, set[float | None]] = {}
    for cell in ledger.cells:
        found.setdefault(_without_duration(cell), set()).add(cell.duration_s)
    return found


def _without_duration(cell: Cell) -> Load:
    return replace(cell, rate=None, duration_s=None).identity()


def _words(changed: list[tuple[int, int]]) -> str:
    if not changed:
        return ""
    shown = "; ".join(f"{then:,} and {now:,} requests/s" for then, now in changed[:MOST_SHOWN])
    more = f"; and {len(changed) - MOST_SHOWN} more" if len(changed) > MOST_SHOWN else ""
    return (
        f"Compared at the same shares of the weakest one's capacity, in OLD and NEW: {shown}{more}."
    )
