"""Warms a server until it is steady under the load that it will be measured under.

The first process of a server is watched from its first request, in slices of the load, for a third
of the limit at least: a step after 20,000 requests looks flat until then. Later ones get 1.5 times
as many requests as that one needed, as fast as they answer them, and are then watched under the
race's own load until its slices are level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from regatta.ledger.cell import Cell
from regatta.ledger.counters import CPU_TIME
from regatta.ledger.steady import FEWEST, FLAT, Slice, WarmUp, is_steady, judge, rows
from regatta.trial.windows import Window

SLICE_S, LONGEST_S = 0.25, 1.0
REQUESTS = 50
"""Of a slice, at least, unless it would take longer than that."""
FEWEST_AGAIN = FEWEST // 2
"""Slices in the tail of a server whose first process was flat."""
WATCHED = 3
"""The first process is watched for one in so many parts of the limit."""
SAFETY = 1.5
"""Times the requests that the first process needed."""
GIVEN_UP_S = 5.0
"""A later process of a server that never became steady is not waited for longer."""
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
        fewest = FEWEST_AGAIN if first.found.kind == FLAT else FEWEST
        watched_s = fewest * (SLICE_S + SLICE_COSTS_S)
        return min(self.limit_s, watched_s + SAFETY * first.found.requests / first.rate)

    def to_list(self) -> list[dict[str, Any]]:
        """For the ledger."""
        return [first.to_dict() for first in self.firsts.values()]


class Warming:
    """One process on its way."""

    def __init__(self, warm_ups: WarmUps, cell: Cell, is_design: bool) -> None:
        """`is_design`: one of ours, whose processes are all alike: one is watched for all."""
        self.warm_ups = warm_ups
        self.cell = cell
        self.first = warm_ups.known(cell)
        known = None if self.first is None else self.first.found
        flat = known is not None and known.kind == FLAT
        self.fewest = FEWEST_AGAIN if flat else FEWEST
        self.limit_s = warm_ups.limit_s
        if known is not None and not known.is_steady:
            self.limit_s = min(self.limit_s, GIVEN_UP_S)
        self.left = SAFETY * known.requests if known is not None and known.is_steady else 0.0
        """Requests that it gets at least."""
        self.watch_s = self.limit_s / WATCHED if known is None and not is_design else 0.0
        self.rounds = -(-BURST_REQUESTS // cell.connections)
        self.curve: list[Slice] = []
        self.slices, self.seconds = 0, 0.0
        self.done = warm_ups.limit_s == 0 or cell.cold is not None or (is_design and flat)

    @property
    def sprints(self) -> bool:
        """Whether the next slice is one of as many requests as it answers."""
        return self.left > 0 and self.cell.load == "open"

    @property
    def seed(self) -> int:
        return SEED + self.slices

    def load(self) -> Cell:
        """The next slice. Idle and slow connections are left out: they change no request."""
        alone = replace(self.cell, idle=0, slow=0)
        if self.sprints:
            return replace(alone, load="closed", rate=None, arrivals=None, duration_s=SLICE_S)
        if alone.rounds is not None:
            return replace(alone, rounds=self.rounds)
        wanted_s = SLICE_S if alone.rate is None else max(SLICE_S, REQUESTS / alone.rate)
        return replace(alone, duration_s=min(wanted_s, LONGEST_S))

    def add(self, window: Window, disturbed: bool) -> None:
        one = slice_of(window, disturbed)
        sprinted = self.sprints
        self.slices += 1
        self.seconds += one.seconds
        self.left -= one.requests
        if not sprinted:
            self.curve.append(one)
        seen = self.left <= 0 and self.seconds >= self.watch_s
        warm = seen and is_steady(self.curve, self.fewest)
        self.done = warm or self.seconds >= self.limit_s
        if self.done and self.first is None:
            self.warm_ups.learn(FirstProcess(self.cell, judge(self.curve), self.curve))

    def found(self) -> dict[str, Any]:
        """Of this process, for a trial's conditions; empty if it was not watched."""
        if not self.slices:
            return {}
        return {
            "warm_up": judge(self.curve, self.fewest).to_dict(),
            "warm_slices": rows(self.curve),
        }


def slice_of(window: Window, disturbed: bool = False) -> Slice:
    client = window.client
    answered = max(1, int(client["answered"]))
    cpu_ns = next((one.value or 0.0 for one in window.accounts if one.event == CPU_TIME), 0.0)
    p50_ns = (client.get("latency_ns") or {}).get("p50") or 0.0
    return Slice(
        seconds=round(window.length_ns / NS_PER_S, 4),
        requests=answered,
        cpu_us=round(cpu_ns / answered / NS_PER_US, 3),
        p50_us=round(p50_ns / NS_PER_US, 3),
        disturbed=disturbed,
    )


def _key(cell: Cell) -> tuple[object, ...]:
    """Equal for loads that warm the same code: whatever their size and pace."""
    reconnects = cell.per_connection == 1 or cell.load == "burst"
    asked = (cell.path, cell.request, cell.requests, cell.dialect)
    return (cell.contender, cell.work, *asked, reconnects)
