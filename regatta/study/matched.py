"""A matched load: all contenders at the same rates, shares of what the weakest one sustains."""

from collections.abc import Mapping, Sequence

from regatta.ledger.cell import Cell, MatchedCell

MATCHED = "matched"


def with_rates(cells: Sequence[Cell], held: Mapping[MatchedCell, float]) -> tuple[Cell, ...]:
    """The cells to race: matched cells become open ones, at shares of the weakest rival's rate.

    Contenders that sustain no rate are left out, and do not count as the weakest.
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
