"""Warms a server until it is steady under the load that it will be measured under.

The first process of a server is watched from its first request, in slices of a load as fast as it
answers, for 50,000 requests or a third of the limit: a step after 20,000 requests looks flat until
then, and at 100 requests a second it would take minutes. Later ones get 1.5 times as many requests
as that one needed, as fast as they answer them. Those that are measured are then watched under the
race's own load until its slices are level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from regatta.measure.trial.merge import Window
from regatta.record.cell import Cell
from regatta.record.records import SERVER
from regatta.record.steady import FEWEST, Slice, WarmUp, is_steady, judge, rows

SLICE_S, LONGEST_S = 0.25, 1.0
REQUESTS = 50
"""Of a slice, at least, unless it would take longer than that."""
FEWEST_AGAIN = FEWEST // 2
"""Slices in the tail of a later process of a server whose first became steady."""
WATCHED, WATCHED_REQUESTS = 3, 50_000
"""The first process is watched for one in so many parts of the limit, or for so many requests."""
SAFETY = 1.5
"""Times the requests that the first process needed."""
MOST_OF_LIMIT = 0.8
"""The rest of the limit is for the slices that show it steady."""
GIVEN_UP_S = 5.0
"""A later process of a server that never became steady is not waited for longer, nor the first one
under the race's own load."""
BURST_REQUESTS = 200
"""Of a slice of bursts."""
SLICE_COSTS_S = 0.1
"""Of the lab's time: starting a client, reading the accounts."""
SEED = 1_000
"""The seeds of warm-up slices start here, those of measured ones at 0."""
NS_PER_US, NS_PER_S = 1e3, 1e9


@dataclass(frozen=True)
class FirstProcess:
    """How the first watched process of a server became warm; of several, the slowest."""

    cell: Cell
    found: WarmUp
    curve: Sequence[Slice]

    @property
    def badness(self) -> tuple[bool, int]:
        return not self.found.is_steady, self.found.requests

    @property
    def rate(self) -> float:
        """Requests a second at its end."""
        return self.curve[-1].requests / self.curve[-1].seconds

    def needs(self, limit_s: float) -> float:
        """Requests that a later process gets: more than this one needed, as far as the limit leaves
        time to show that it is steady."""
        needed = self.found.requests
        spare_s = max(0.0, MOST_OF_LIMIT * limit_s - self.found.seconds)
        return needed + min((SAFETY - 1) * needed, self.rate * spare_s)

    def to_dict(self) -> dict[str, Any]:
        return {
            "contender": self.cell.contender,
            "load": self.cell.load,
            "work": self.cell.path or self.cell.request or self.cell.work,
            "connections": self.cell.connections,
            **self.found.to_dict(),
            "slices": rows(self.curve),
        }


@dataclass
class WarmUps:
    """What is known of the servers of a race so far."""

    limit_s: float
    """How long a process is warmed at most; 0: by one round of requests."""
    firsts: dict[tuple[object, ...], FirstProcess] = field(default_factory=dict)

    def known(self, cell: Cell) -> FirstProcess | None:
        return self.firsts.get(_key(cell))

    def learn(self, first: FirstProcess) -> None:
        before = self.known(first.cell)
        if before is None or before.badness < first.badness:
            self.firsts[_key(first.cell)] = first

    def expected_s(self, cell: Cell) -> float:
        """About how long a later process takes to be warm."""
        first = self.known(cell)
        if first is None or self.limit_s == 0 or cell.cold is not None:
            return 0.0
        if not first.found.is_steady:
            return min(self.limit_s, GIVEN_UP_S)
        watched_s = FEWEST_AGAIN * (SLICE_S + SLICE_COSTS_S)
        more_s = (first.needs(self.limit_s) - first.found.requests) / first.rate
        return min(self.limit_s, watched_s + first.found.seconds + more_s)

    def to_list(self) -> list[dict[str, Any]]:
        """For the ledger."""
        return [first.to_dict() for first in self.firsts.values()]


class Warming:
    def __init__(self, warm_ups: WarmUps, cell: Cell, is_design: bool) -> None:
        """`is_design`: one of ours, whose processes are all alike: one is watched for all."""
        self.warm_ups = warm_ups
        self.cell = cell
        self.first = first = warm_ups.known(cell)
        self.follows = first is not None and first.found.is_steady
        """Whether it is known how many requests it needs."""
        self.limit_s = warm_ups.limit_s
        if first is not None and not self.follows:
            self.limit_s = min(self.limit_s, GIVEN_UP_S)
        self.needed = first.needs(self.limit_s) if first is not None and self.follows else 0.0
        """Requests that it gets at least."""
        self.watch_s = self.limit_s / WATCHED if first is None and not is_design else 0.0
        self.rounds = -(-BURST_REQUESTS // cell.connections)
        self.curve: list[Slice] = []
        """Under the race's own load; of a server's first process, at its fastest."""
        self.slices, self.requests, self.seconds = 0, 0, 0.0
        flat = self.follows and self.needed == 0
        self.done = warm_ups.limit_s == 0 or cell.cold is not None or (is_design and flat)

    @property
    def needs_requests(self) -> bool:
        """Whether it is still to get what the first process needed."""
        return self.needed > self.requests

    @property
    def fewest(self) -> int:
        """Slices in a tail."""
        return FEWEST_AGAIN if self.follows else FEWEST

    @property
    def seed(self) -> int:
        return SEED + self.slices

    def load(self) -> Cell:
        """The next slice. Idle and slow connections are left out: they change no request."""
        alone = replace(self.cell, idle=0, slow=0)
        if alone.rounds is not None:
            return replace(alone, rounds=self.rounds)
        wanted_s = 0.0 if alone.rate is None else REQUESTS / alone.rate
        if self.first is None or self.needs_requests:
            alone = fastest(alone)
            left = self.needed - self.requests
            wanted_s = 0.0 if self.first is None else left / self.first.rate
        return replace(alone, duration_s=min(max(SLICE_S, wanted_s), LONGEST_S))

    def add(self, window: Window, disturbed: bool) -> None:
        latest = slice_of(window, disturbed)
        if not self.needs_requests or self.cell.rounds is not None:
            self.curve.append(latest)
        self.slices += 1
        self.seconds += latest.seconds
        self.requests += latest.requests
        watched = self.seconds >= self.watch_s or self.requests >= WATCHED_REQUESTS
        seen = watched and not self.needs_requests
        warm = seen and is_steady(self.curve, self.fewest)
        self.done = warm or self.seconds >= self.limit_s
        if self.done and self.first is None:
            self.first = FirstProcess(fastest(self.cell), judge(self.curve), self.curve)
            self.warm_ups.learn(self.first)
            if self.first.found.is_steady and self.cell.load == "open":
                self.follows, self.curve, self.done = True, [], False
                self.limit_s = self.seconds + GIVEN_UP_S

    def found(self) -> dict[str, Any]:
        """Of this process, for a trial's conditions; empty if it was not watched."""
        if not self.slices:
            return {}
        return {
            "warm_up": judge(self.curve, self.fewest).to_dict(),
            "warm_slices": rows(self.curve),
        }


def fastest(cell: Cell) -> Cell:
    """The same load, as fast as the server answers."""
    return (
        cell if cell.rounds is not None else replace(cell, load="closed", rate=None, arrivals=None)
    )


def slice_of(window: Window, disturbed: bool = False) -> Slice:
    client = window.client
    answered = max(1, int(client["answered"]))
    p50_ns = (client.get("latency_ns") or {}).get("p50") or 0.0
    return Slice(
        seconds=round(window.length_ns / NS_PER_S, 4),
        requests=answered,
        cpu_us=round(window.cpu_ns(SERVER) / answered / NS_PER_US, 3),
        p50_us=round(p50_ns / NS_PER_US, 3),
        disturbed=disturbed,
    )


def _key(cell: Cell) -> tuple[object, ...]:
    """Equal for loads that warm the same code: whatever their size and pace."""
    reconnects = cell.per_connection == 1 or cell.load == "burst"
    asked = (cell.path, cell.request, cell.requests, cell.dialect)
    return (cell.contender, cell.work, *asked, reconnects)
