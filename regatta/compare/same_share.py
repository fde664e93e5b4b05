"""Two races of a matched load: cells at the same share of what the weakest holds are paired.

Each race finds for itself what the weakest holds, so the same share is another rate in each. The
old race's cells are given the rates of the new one's, and everything that compares cells finds
them.
"""

from dataclasses import replace

from regatta.ledger.cell import Cell
from regatta.ledger.records import RaceRecord
from regatta.study.matched import MATCHED

Load = tuple[object, ...]
"""What the cells of a matched load have in common: all but the contender and the rate."""
MOST_SHOWN = 3


def at_rates_of(new: RaceRecord, old: RaceRecord) -> tuple[RaceRecord, str]:
    """The old race with the new one's rates, and a note; empty: nothing was changed."""
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
    """The rate of each share, by load; not where a study has rates of its own, too."""
    found: dict[Load, dict[float, int]] = {}
    for search in ledger.searches:
        wanted = search.cell.identity()
        cells = (cell for cell in ledger.cells if _searched(cell).identity() == wanted)
        rates = sorted(cell.rate for cell in cells if cell.rate is not None)
        if len(rates) == len(search.shares):
            found[_load(search.cell)] = dict(zip(sorted(search.shares), rates, strict=True))
    return found


def _load(cell: Cell) -> Load:
    return _searched(cell).comparison_key()


def _searched(cell: Cell) -> Cell:
    """The cell before its rate was known."""
    return replace(cell, load=MATCHED, rate=None)


def _words(changed: list[tuple[int, int]]) -> str:
    if not changed:
        return ""
    shown = "; ".join(f"{then:,} and {now:,} requests/s" for then, now in changed[:MOST_SHOWN])
    more = f"; and {len(changed) - MOST_SHOWN} more" if len(changed) > MOST_SHOWN else ""
    return (
        f"Compared at the same shares of what the weakest holds, in OLD and in NEW: {shown}{more}."
    )
