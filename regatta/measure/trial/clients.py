"""The client side of a window: one client, or several that share the load, and their summaries."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from regatta.errors import RegattaError, TrialError
from regatta.measure.places.sides import ClockOffset
from regatta.measure.trial.load import (
    client_command,
    give_requests,
    load_options,
    load_timeout_s,
    shared,
)
from regatta.measure.trial.merge import ClientStart, merge_counters, pool_clients, with_samples
from regatta.measure.trial.program import STOP_TIMEOUT_S
from regatta.measure.trial.server import read_json
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Half, Side
from regatta.record.cell import Cell
from regatta.record.counters import Counter
from regatta.record.rate_search import due
from regatta.record.records import CLIENT
from regatta.record.samples import ClientFile, pool_samples, records_in


class AnswersError(TrialError):
    """Not every request was answered correctly; `summary` has the details."""

    def __init__(self, what: str, summary: dict[str, Any]) -> None:
        super().__init__(what)
        self.summary = summary


def samples_of(name: str) -> str:
    """The samples file of the client with this name."""
    return f"{name}.samples"


def read_samples(client: Side, name: str) -> bytes:
    """The latency samples that the client with this name wrote."""
    samples = client.file(samples_of(name))
    if samples is None:
        raise client.failure("the client wrote no samples")
    return samples


def sum_up(cell: Cell, client: Side, timeout_s: float) -> dict[str, Any]:
    """Waits for the client's end; an error unless every request was answered."""
    status, summary = wait_for_end(client, timeout_s)
    if summary is not None:
        check_answers(cell, summary)
    return check_end(client, CLIENT, status, summary)


def wait_for_end(client: Side, timeout_s: float) -> tuple[int, dict[str, Any] | None]:
    """The client's exit status and summary; None if it printed none."""
    status = client.wait(timeout_s)
    text = client.stdout()
    return status, read_json(text, CLIENT) if text.strip() else None


def check_end(
    client: Side, name: str, status: int, summary: dict[str, Any] | None
) -> dict[str, Any]:
    """The summary; an error if the client failed."""
    if status != 0 or summary is None:
        raise client.failure(f"the {name} exited with status {status}")
    return summary


def check_answers(cell: Cell, summary: dict[str, Any]) -> None:
    """Every request must have been answered correctly."""
    requests, answered = summary.get("requests"), summary.get("answered")
    if not isinstance(requests, int) or not isinstance(answered, int):
        raise AnswersError("the client's JSON has no counts of requests and answers", summary)
    expected = None if cell.rounds is None else cell.rounds * cell.connections
    if expected is not None and requests != expected:
        what = f"the client made {requests} requests instead of {expected}"
        raise AnswersError(what, summary)
    if requests == 0:
        raise AnswersError("the client made no request", summary)
    if answered != requests:
        kinds = summary.get("errors")
        named = kinds.items() if isinstance(kinds, dict) else ()
        wrong = ", ".join(f"{count} {kind}" for kind, count in named if count)
        example = f", for example {problem}" if (problem := summary.get("problem")) else ""
        failed = requests - answered
        raise AnswersError(f"{failed} of {requests} requests failed ({wrong}){example}", summary)
    for kind in ("idle", "slow"):
        if lost := summary.get(f"{kind}_lost"):
            what = f"the server dropped {kind} connections, {lost} times in all"
            raise AnswersError(what, summary)


# The client side of a window: one client, or several that share the load. Several clients start at
# the same moment, which each is given by its own clock, and each reports when it did start. Their
# counts are added; their samples are merged into one file, with times by the first client's clock.

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
