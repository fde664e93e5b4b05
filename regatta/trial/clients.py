"""The client's side of a window: one client, or several that share the load.

Several begin at the same moment, told to each by its own clock, and each says afterwards when it
did. What they have done is added up; their samples become one file, by the clock of the first.
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
from regatta.ledger.result import CLIENT
from regatta.ledger.samples import ClientFile, pool_samples, records_in
from regatta.machine.clocks import Offset
from regatta.trial.load import client_command, load_options, load_timeout_s, shared
from regatta.trial.merge import due, merge_counters
from regatta.trial.pool import Told, latency_of, pool_clients
from regatta.trial.program import STOP_TIMEOUT_S
from regatta.trial.setup import TrialSetup
from regatta.trial.side import Half, Side
from regatta.trial.summary import check_answers, hear, heard, read_samples, samples_of

EACH_SEED = 1_000_003
"""Between the random arrivals of two clients of a window; a prime beyond all blocks'."""


@dataclass(frozen=True)
class Asked:
    """What all clients of a window have done."""

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
        """The load of each."""
        self.places = setup.placement.clients[: len(self.parts)]
        numbers = range(1, len(self.parts) + 1)
        self.names = [f"{CLIENT}-{number}" for number in numbers] if self.many else [CLIENT]
        self.sides: list[Side] = []
        self.offsets: list[Offset] = []
        self.at_ns = 0
        """When they were to begin, by the server's clock; 0: one client begins when told."""
        self.stack = ExitStack()

    def __enter__(self) -> Clients:
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    @property
    def many(self) -> bool:
        return len(self.parts) > 1

    def start(self, target: str, wanted: Sequence[str], seed: int) -> None:
        """Until all are ready."""
        place = self.setup.placement
        for number, (name, part, where) in enumerate(
            zip(self.names, self.parts, self.places, strict=True)
        ):
            load = load_options(self.setup, part, seed + number * EACH_SEED)
            command = client_command(
                self.setup, part, target, [*load, "--samples", samples_of(name)]
            )
            side = self.stack.enter_context(self.setup.side(where, name))
            side.start(
                command, self.setup.perf, wanted, speaks="--gate-fd", off_cpus=place.off_cpus
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

    def run(self) -> int:
        """How long it took all of them, in ns."""
        timeout_s = load_timeout_s(self.cell)
        if not self.many:
            return self.sides[0].run(timeout_s)
        self.at_ns = self.setup.placement.soon_ns()
        with ThreadPoolExecutor(len(self.sides)) as pool:
            try:
                return max(
                    pool.map(self.run_one, range(len(self.sides)), [timeout_s] * len(self.sides))
                )
            except BaseException as error:
                # Whoever waits for a client hears of its end; one that failed lets the others end.
                if not isinstance(error, RegattaError):
                    for side in self.sides:
                        side.give_up()
                raise

    def run_one(self, number: int, timeout_s: float) -> int:
        return self.sides[number].run(timeout_s, self.at_ns + self.starts_ns(number))

    def starts_ns(self, number: int) -> int:
        """When this one begins, by its own clock, after the moment of all.

        Even arrivals of several clients take turns, or they would come all at once.
        """
        after_ns = 0.0
        if self.cell.arrivals == "even" and self.cell.rate:
            after_ns = number / self.cell.rate * 1e9
        return self.offsets[number].ns + round(after_ns)

    def close(self) -> list[Half]:
        """In reverse order: each gives this thread the CPUs back that it took from it."""
        return [side.close() for side in reversed(self.sides)]

    def sum_up(self) -> Asked:
        for side in self.sides:
            side.say("sum up")
        told = [hear(side, STOP_TIMEOUT_S) for side in self.sides]
        summaries = [summary for _, summary in told if summary is not None]
        whole: dict[str, Any] | None = None
        if len(summaries) == len(told):
            whole = self.pooled(summaries)
            check_answers(self.cell, whole)
        for side, name, (status, summary) in zip(self.sides, self.names, told, strict=True):
            heard(side, name, status, summary)
        assert whole is not None
        samples = self.samples(summaries)
        if self.many:
            whole["latency_ns"] = latency_of(records_in(samples))
        counters = [side.counters() for side in self.sides]
        return Asked(whole, merge_counters(counters, [1] * len(counters)), samples)

    def pooled(self, summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
        if not self.many:
            return summaries[0]
        return pool_clients(
            summaries,
            [
                Told(place.name, place.cpus, self.at_ns + self.starts_ns(number), offset)
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
