"""A matched load: all contenders at the same rates, shares of what the weakest of them holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from regatta.study.cell import Cell
from regatta.study.limits import DEFAULT_P99_LIMIT_MS, DEFAULT_SHARES

MATCHED = "matched"


@dataclass(frozen=True)
class MatchedCell(Cell):
    """Stands for the open cells of a contender until it is known what all of them hold."""

    shares: tuple[float, ...] = DEFAULT_SHARES
    """Of what the weakest holds: the rates that all are raced at."""
    p99_limit_ms: float = DEFAULT_P99_LIMIT_MS
    """A rate with a p99 beyond it is not held."""
    knee: bool = False
    """Whether its latency is measured at shares of what it holds itself, too."""

    def at(self, rate: int, duration_s: float | None = None) -> Cell:
        """The open cell at this rate."""
        values = {field.name: getattr(self, field.name) for field in fields(Cell)}
        cell = Cell(**{**values, "load": "open", "rate": rate})
        return cell if duration_s is None else replace(cell, duration_s=duration_s)

    def closed(self, duration_s: float) -> Cell:
        """The closed cell, in which each connection asks again when it has its answer."""
        cell = self.at(0, duration_s)
        return replace(cell, load="closed", rate=None, arrivals=None)


def matched_cells(cells: Sequence[Cell]) -> list[MatchedCell]:
    """Those whose rates are to be found, in their order."""
    return [cell for cell in cells if isinstance(cell, MatchedCell)]


def with_rates(cells: Sequence[Cell], held: Mapping[MatchedCell, float]) -> tuple[Cell, ...]:
    """The cells to be raced: each matched one at the shares of what the weakest beside it holds.

    Who holds nothing is left out, and weakens nobody.
    """
    weakest: dict[tuple[object, ...], float] = {}
    for cell, rate in held.items():
        if rate > 0:
            weakest[cell.alike()] = min(rate, weakest.get(cell.alike(), rate))
    found: list[Cell] = []
    for each in cells:
        if not isinstance(each, MatchedCell):
            found.append(each)
        elif held[each] > 0:
            rates = {max(1, round(share * weakest[each.alike()])) for share in each.shares}
            found += [each.at(rate) for rate in sorted(rates)]
    return tuple(found)
