"""The search for the rate that a contender holds: which rate to try next, whether one is held, and
the rates that recorded probes show.

The rate rises by a factor until one is not held; then the search bisects until the two rates are
close. It also ends if the highest permitted rate is held. A rate must fail twice in a row, as a
single failure may be chance. The search depends only on its outcomes, so it can be resumed, and
read from a ledger.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from regatta.record.cell import MatchedCell
from regatta.record.records import CLOSED, SEARCH, Probe

LOWEST = 100
"""Requests a second; the lowest rate that is tried."""
HIGHEST = 5_000_000
LONG_STEP = 4.0
FIRST_STEP = 1.2
"""First step from what a closed load suggests; it grows."""
SHORT_STEP = 1.07
"""First step from the result of earlier blocks; it grows."""
TOLERANCE = 1.03
"""The search ends at this ratio of the lowest failed rate to the highest held rate."""
SURE = 2
"""Failures in a row after which a rate is not held."""
HOPELESS = 4
"""The same for the lowest rate."""
MOST_PROBES = 100


class Search:
    def __init__(self, start: int = LOWEST, step: float = LONG_STEP) -> None:
        self.start = min(max(start, LOWEST), HIGHEST)
        self.highest = HIGHEST
        self.why_highest: str | None = None
        self.step = step
        self.held = 0
        """The highest rate that was held."""
        self.over: int | None = None
        """The lowest rate that was not held."""
        self.why: str | None = None
        """Why that rate was not held; or why no rate above `highest` is tried, if that is held."""
        self.doubts = 0
        self.probes = 0

    def limit_to(self, highest: int, why: str) -> None:
        self.highest, self.why_highest = min(max(highest, LOWEST), HIGHEST), why
        self.start = min(self.start, self.highest)

    def next_rate(self) -> int | None:
        """The next rate to try; None when the search is over."""
        if self.probes >= MOST_PROBES:
            return None
        if self.over is None:
            return self.climb()
        if self.held == 0:
            return None if self.over <= LOWEST else max(LOWEST, int(self.over / self.step))
        between = round(math.sqrt(self.held * self.over))
        close = self.over <= self.held * TOLERANCE
        return None if close or not self.held < between < self.over else between

    def climb(self) -> int | None:
        if self.held == 0:
            return self.start
        if self.held >= self.highest:
            return None
        return min(self.highest, math.ceil(self.held * self.step))

    def record(self, rate: int, why_not: str | None) -> None:
        """Records the outcome of a rate: why it is not held; None if it is."""
        self.probes += 1
        if why_not is None:
            self.held, self.doubts = rate, 0
            if rate >= self.highest:
                self.why = self.why_highest
        else:
            self.doubts += 1
            if self.doubts < (SURE if rate > LOWEST else HOPELESS):
                return
            self.over, self.why, self.doubts = rate, why_not, 0
        if self.held == 0 or self.over is None:
            # Growing steps reach a rate that is far from the start.
            self.step = min(LONG_STEP, self.step**2)


STARTED_LIMIT = 0.99
"""Least share of due requests that must be started; as in client_bound.c."""
GROWTH_LIMIT = 0.01
"""Share of due requests: a backlog that grows faster fills any number of connections in time."""
CLIENT_LIMIT = 0.5
"""Share of its capacity up to which a client is not the bottleneck."""
NS_PER_MS = 1e6

CLIENT = "the client's limit"
"""Reasons start with this if the client, not the server, ended the search."""


def why_not_held(client: dict[str, Any], p99_limit_ms: float, growth: float) -> str | None:
    """Why a rate is not held; None if it is. `growth`: of the backlog.

    A client that reports itself as the bottleneck is checked first: it reads replies late, so its
    figures say nothing about the server.
    """
    client_bound = client.get("client_bound")
    if client_bound:
        return f"{CLIENT}: it {client_bound}"
    started, wanted = client["requests"], due(client)
    if started < STARTED_LIMIT * wanted:
        # Rounded down: 98.96 % must not show as 99 %.
        return f"{1000 * started // wanted / 10:.1f} % of what was due was started"
    if growth > GROWTH_LIMIT:
        return f"the backlog grew by {math.ceil(1000 * growth) / 10:.1f} % of what was due"
    p99_ns = client["latency_ns"]["p99"]
    if p99_ns is None:
        return f"p99 over {client['latency_ns']['over']['p99'] / NS_PER_MS:.3g} ms"
    if p99_ns > p99_limit_ms * NS_PER_MS:
        return f"p99 {p99_ns / NS_PER_MS:.3g} ms, the limit is {p99_limit_ms:g} ms"
    return None


def half_capacity(closed: dict[str, Any] | None) -> int | None:
    """Half the client's capacity in requests a second, from a closed load; None: unknown.

    Its CPU share in an open load says little, as it hardly depends on the rate: at a low rate each
    request costs a wake-up, at a high rate a wake-up serves many requests.
    """
    if closed is None or not closed["cpu_share"]:
        return None
    return round(CLIENT_LIMIT * float(closed["throughput_per_s"]) / float(closed["cpu_share"]))


def beyond_half(rate: int) -> str:
    """Why no higher rate is tried."""
    return f"{CLIENT}: half of its capacity is {rate:,} a second"


def due(client: dict[str, Any]) -> int:
    """The requests that were due: started ones, and those that an open load could not start."""
    requests: int = client["requests"] + client.get("unstarted", 0)
    return requests


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
    closed: dict[int, dict[str, Any]] = {}
    for probe in (probe for probe in probes if probe.planned.search_id == number):
        planned = probe.planned
        if planned.kind == SEARCH:
            by_block.setdefault(planned.block, []).append((planned.rate, probe.why_not))
        elif planned.kind == CLOSED and probe.why_not is None and probe.client is not None:
            closed[planned.block] = probe.client
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
