"""The client side of a window: one client, or several that share the load.

Several clients start at the same moment, which each is given by its own clock, and each reports
when it did start. Their counts are added; their samples are merged into one file, with times by the
first client's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from regatta.errors import RegattaError
from regatta.ledger.cell import Cell
from regatta.ledger.counters import Counter
from regatta.ledger.rate_search import due
from regatta.ledger.result import CLIENT
from regatta.ledger.samples import ClientFile, pool_samples, records_in
from regatta.machine.sides.clock_offset import ClockOffset
from regatta.trial.client_summary import (
    check_answers,
    check_end,
    read_samples,
    samples_of,
    wait_for_end,
)
from regatta.trial.load import (
    client_command,
    give_requests,
    load_options,
    load_timeout_s,
    shared,
)
from regatta.trial.merge import merge_counters
from regatta.trial.pooled_clients import ClientStart, pool_clients, with_samples
from regatta.trial.program import STOP_TIMEOUT_S
from regatta.trial.setup import TrialSetup
from regatta.trial.side import Half, Side

SEED_STEP = 1_000_003
"""Between the seeds of two clients of a window; a prime larger than any block's offset."""


@dataclass(frozen=True)
class ClientsResult:
    """The combined result of all clients of a window."""

    summary: dict[str, Any]
    counters: list[Counter]
    """perf's."""
    samples: bytes


class Clients:
    """Use it in a `with` statement, which ends them."""

    def __init__(self, setup: TrialSetup, cell: Cell) -> None:
        self.setup = setup
        self.cell = cell
        self.parts = shared(cell, setup.placement.client_count)
        """Each client's part of the load."""
        self.places = setup.placement.clients[: len(self.parts)]
        numbers = range(1, len(self.parts) + 1)
        self.names = [f"{CLIENT}-{number}" for number in numbers] if self.many else [CLIENT]
        self.sides: list[Side] = []
        self.offsets: list[ClockOffset] = []
        self.at_ns = 0
        """The start time by the server's clock; 0: a single client starts at once."""
        self.stack = ExitStack()

    def __enter__(self) -> Clients:
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    @property
    def many(self) -> bool:
        return len(self.parts) > 1

    def start(self, target: str, wanted: Sequence[str], seed: int) -> None:
        """Starts the clients and waits until all are ready."""
        place = self.setup.placement
        for number, (name, part, where) in enumerate(
            zip(self.names, self.parts, self.places, strict=True)
        ):
            load = load_options(self.setup, part, seed + number * SEED_STEP)
            command = client_command(
                self.setup, part, target, [*load, "--samples", samples_of(name)]
            )
            side = self.stack.enter_context(self.setup.side(where, name))
            give_requests(self.setup, part, side)
            side.start(
                command,
                self.setup.perf,
                wanted,
                channel_option="--gate-fd",
                off_cpus=place.off_cpus,
            )
            self.sides.append(side)
        for side in self.sides:
            side.ready()
        if self.many:
            self.offsets = place.offsets()[: len(self.parts)]

    def open(self) -> None:
        place = self.setup.placement
        for side, where in zip(self.sides, self.places, strict=True):
            side.open(place.watched_by(where))

    def run(self, server: Side) -> int:
        """Runs the load; returns the longest client's duration in ns."""
        timeout_s = load_timeout_s(self.cell)
        if not self.many:
            return self.sides[0].run(timeout_s)
        self.at_ns = self.setup.placement.soon_ns()
        with ThreadPoolExecutor(len(self.sides)) as pool:
            try:
                numbers = range(len(self.sides))
                lengths_ns = pool.map(self.run_one, numbers, [timeout_s] * len(numbers))
                server.watch_from(self.at_ns)
                return max(lengths_ns)
            except BaseException as error:
                # After a client's failure the others may finish; otherwise (Ctrl-C) kill them, as
                # the other threads still wait for them.
                if not isinstance(error, RegattaError):
                    for side in self.sides:
                        side.give_up()
                raise

    def run_one(self, number: int, timeout_s: float) -> int:
        return self.sides[number].run(timeout_s, self.at_ns + self.starts_ns(number))

    def starts_ns(self, number: int) -> int:
        """This client's start time by its own clock, relative to the common start.

        With even arrivals the clients are staggered, or their requests would coincide.
        """
        after_ns = 0.0
        if self.cell.arrivals == "even" and self.cell.rate:
            after_ns = number / self.cell.rate * 1e9
        return self.offsets[number].ns + round(after_ns)

    def close(self) -> list[Half]:
        """Closes in reverse order, as each side restores this thread's CPU affinity."""
        return [side.close() for side in reversed(self.sides)]

    def sum_up(self) -> ClientsResult:
        for side in self.sides:
            side.say("sum up")
        ended = [wait_for_end(side, STOP_TIMEOUT_S) for side in self.sides]
        summaries = [summary for _, summary in ended if summary is not None]
        whole: dict[str, Any] | None = None
        if len(summaries) == len(ended):
            whole = self.pooled(summaries)
            check_answers(self.cell, whole)
        for side, name, (status, summary) in zip(self.sides, self.names, ended, strict=True):
            check_end(side, name, status, summary)
        assert whole is not None
        samples = self.samples(summaries)
        if self.many:
            whole = with_samples(whole, records_in(samples))
        counters = [side.counters() for side in self.sides]
        return ClientsResult(whole, merge_counters(counters, [1] * len(counters)), samples)

    def pooled(self, summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
        if not self.many:
            return summaries[0]
        return pool_clients(
            summaries,
            [
                ClientStart(place.name, place.cpus, self.at_ns + self.starts_ns(number), offset)
                for number, (place, offset) in enumerate(
                    zip(self.places, self.offsets, strict=True)
                )
            ],
        )

    def samples(self, summaries: Sequence[dict[str, Any]]) -> bytes:
        files = [
            read_samples(side, name) for side, name in zip(self.sides, self.names, strict=True)
        ]
        if not self.many:
            return files[0]
        firsts = accumulate((part.connections for part in self.parts), initial=0)
        return pool_samples(
            [
                ClientFile(file, due(summary), first, offset.ns - self.offsets[0].ns)
                for file, summary, first, offset in zip(
                    files, summaries, firsts, self.offsets, strict=False
                )
            ]
        )
