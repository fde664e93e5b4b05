"""The rates that contenders hold: replays the searches of all blocks from recorded probes."""

import math
from collections.abc import Iterable, Mapping, Sequence

from regatta.ledger.cell import MatchedCell
from regatta.ledger.probe import CLOSED, SEARCH, Probe
from regatta.race.matched.judge import beyond_half, half_capacity
from regatta.race.matched.search import LOWEST, SHORT_STEP, Search

Outcomes = Sequence[tuple[int, str | None]]
"""Each tried rate, and why it was not held; None if it was."""
NO_LIMITS: Mapping[int, int] = {}


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
    return replay(by_block, blocks, limits_of(number, probes))


def limits_of(number: int, probes: Iterable[Probe]) -> dict[int, int]:
    """Half of the client's capacity in each block that has a closed load."""
    capacities = {
        probe.planned.block: half_capacity(probe.client)
        for probe in probes
        if (probe.planned.search_id, probe.planned.kind) == (number, CLOSED)
        and probe.why_not is None
    }
    return {block: limit for block, limit in capacities.items() if limit}


def replay(
    by_block: Mapping[int, Outcomes], blocks: int, limits: Mapping[int, int] = NO_LIMITS
) -> list[Search]:
    """One contender's searches by block; the last may be unfinished.

    `limits`: the client's limit in each block. A contender that holds no rate in the first block is
    dropped.
    """
    found: list[Search] = []
    for block in range(1, blocks + 1):
        search = begin(found)
        if block in limits:
            search.limit_to(limits[block], beyond_half(limits[block]))
        for rate, why_not in by_block.get(block, ()):
            search.record(rate, why_not)
        found.append(search)
        if search.next_rate() is not None or holds_nothing(found):
            break
    return found


def begin(before: Sequence[Search]) -> Search:
    """A later block starts at the rate that earlier ones found."""
    if not before:
        return Search()
    return Search(round(middle(before)), SHORT_STEP)


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
