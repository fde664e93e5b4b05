"""A matched load: all contenders at the same rates, shares of what the weakest of them holds."""

from collections.abc import Mapping, Sequence

from regatta.ledger.cell import Cell, MatchedCell

MATCHED = "matched"


def with_rates(cells: Sequence[Cell], held: Mapping[MatchedCell, float]) -> tuple[Cell, ...]:
    """The cells to be raced: each matched one at the shares of what the weakest beside it holds.

    Who holds nothing is left out, and weakens nobody.
    """
    weakest: dict[tuple[object, ...], float] = {}
    for cell, rate in held.items():
        if rate > 0:
            weakest[cell.comparison_key()] = min(rate, weakest.get(cell.comparison_key(), rate))
    found: list[Cell] = []
    for each in cells:
        if not isinstance(each, MatchedCell):
            found.append(each)
        elif held[each] > 0:
            rates = {max(1, round(share * weakest[each.comparison_key()])) for share in each.shares}
            found += [each.at(rate) for rate in sorted(rates)]
    return tuple(found)
