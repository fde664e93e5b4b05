"""The rates that contenders hold: replays the searches of all blocks from recorded probes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from regatta.ledger.cell import MatchedCell
from regatta.ledger.probe import CLOSED, SEARCH, Probe
from regatta.race.matched.judge import beyond_half, half_capacity
from regatta.race.matched.search import FIRST_STEP, LOWEST, SHORT_STEP, Search

Outcomes = Sequence[tuple[int, str | None]]
"""Each tried rate, and why it was not held; None if it was."""
NONE: Mapping[int, dict[str, Any]] = {}
OF_CLOSED = 0.7


def held_by(
    cells: Sequence[MatchedCell], probes: Sequence[Probe], blocks: int
) -> dict[MatchedCell, float]:
    """The rate that each contender holds over all blocks; 0: none."""
    return {
        cell: middle(searches(number, probes, blocks)) for number, cell in enumerate(cells, start=1)
    }


def searches(number: int, probes: Sequence[Probe], blocks: int) -> list[Search]:
    """The searches of the matched cell with this number, from its valid probes."""
    by_block: dict[int, list[tuple[int, str | None]]] = {}
    for probe in probes:
        planned = probe.planned
        if (planned.search_id, planned.kind) == (number, SEARCH):
            by_block.setdefault(planned.block, []).append((planned.rate, probe.why_not))
    closed = {
        probe.planned.block: probe.client
        for probe in probes
        if (probe.planned.search_id, probe.planned.kind) == (number, CLOSED)
        and probe.why_not is None
        and probe.client is not None
    }
    return replay(by_block, blocks, closed)


def replay(
    by_block: Mapping[int, Outcomes], blocks: int, closed: Mapping[int, dict[str, Any]] = NONE
) -> list[Search]:
    """One contender's searches by block; the last may be unfinished.

    `closed`: the client's report of a closed load in each block. A contender that holds no rate in
    the first block is dropped.
    """
    found: list[Search] = []
    for block in range(1, blocks + 1):
        search = begin(found, closed.get(block))
        if limit := half_capacity(closed.get(block)):
            search.limit_to(limit, beyond_half(limit))
        for rate, why_not in by_block.get(block, ()):
            search.record(rate, why_not)
        found.append(search)
        if search.next_rate() is not None or holds_nothing(found):
            break
    return found


def begin(before: Sequence[Search], closed: dict[str, Any] | None) -> Search:
    """A later block starts at the rate that earlier ones found, the first one below the rate of a
    closed load, which is the most that the server answers."""
    if before:
        return Search(round(middle(before)), SHORT_STEP)
    if closed is None:
        return Search()
    return Search(round(OF_CLOSED * closed["throughput_per_s"]), FIRST_STEP)


def holds_nothing(found: Sequence[Search]) -> bool:
    """Only the first block decides this; a later failure counts as the lowest rate."""
    return bool(found) and found[0].held == 0


def rates_of(found: Sequence[Search]) -> list[int]:
    """The rate held in each block; empty if none is held."""
    return [] if holds_nothing(found) else [max(LOWEST, search.held) for search in found]


def middle(found: Sequence[Search]) -> float:
    """The held rate over all blocks: the geometric mean; 0: none."""
    rates = rates_of(found)
    if not rates:
        return 0.0
    return math.exp(sum(math.log(rate) for rate in rates) / len(rates))
