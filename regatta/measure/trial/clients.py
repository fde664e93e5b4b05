"""The client side of a window: one client, or several that share the load.

Several clients start at the same moment, which each is given by its own clock, and each reports
when it did start. Their counts are added; their samples are merged into one file, with times by the
first client's clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from regatta.errors import RegattaError, TrialError
from regatta.measure.accounts.process_tree import client_counters
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import SAME, ClockOffset
from regatta.measure.trial.load import (
    client_command,
    give_requests,
    load_options,
    load_timeout_s,
    shared,
)
from regatta.measure.trial.merge import (
    ClientStart,
    Window,
    merge_counters,
    pool_clients,
    with_samples,
)
from regatta.measure.trial.program import STOP_TIMEOUT_S
from regatta.measure.trial.server import read_json
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.record.cell import Cell
from regatta.record.counters import keyed
from regatta.record.rate_search import due
from regatta.record.records import CLIENT, KERNEL, PERF
from regatta.record.samples import check_samples, join_samples, records_in, shift_samples

SEED_STEP = 1_000_003
"""Between the seeds of two clients of a window; a prime larger than any block's offset."""


class AnswersError(TrialError):
    """Not every request was answered correctly; `summary` has the details."""

    def __init__(self, what: str, summary: dict[str, Any]) -> None:
        super().__init__(what)
        self.summary = summary


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


def samples_of(name: str) -> str:
    """The samples file of the client with this name."""
    return f"{name}.samples"


def ended(
    cell: Cell,
    sides: Mapping[str, Side],
    timeout_s: float,
    pool: Callable[[list[dict[str, Any]]], dict[str, Any]],
) -> tuple[list[bytes], Window]:
    """Waits until the clients have ended; returns their samples files, and what they counted.

    `pool`: makes one summary of theirs. An error unless every request was answered.
    """
    found: dict[str, tuple[int, dict[str, Any] | None]] = {}
    for name, side in sides.items():
        status, text = side.wait(timeout_s), side.stdout()
        found[name] = status, read_json(text, CLIENT) if text.strip() else None
    summaries = [summary for _, summary in found.values() if summary is not None]
    whole: dict[str, Any] = {}
    if len(summaries) == len(found):
        whole = pool(summaries)
        check_answers(cell, whole)
    files = []
    for name, (status, summary) in found.items():
        if status != 0 or summary is None:
            raise sides[name].failure(f"the {name} exited with status {status}")
    for (name, side), summary in zip(sides.items(), summaries, strict=True):
        file = side.file(samples_of(name))
        if file is None:
            raise side.failure("the client wrote no samples")
        check_samples(file, due(summary))
        files.append(file)
    by_perf = [keyed(CLIENT, PERF, side.counters()) for side in sides.values()]
    usage = keyed(CLIENT, KERNEL, client_counters(whole.get("usage")))
    counters = merge_counters(by_perf, [1] * len(by_perf)) | usage
    return files, Window(counters=counters, client=whole, samples=files[0])


@dataclass
class Client:
    """One of the clients of a window."""

    name: str
    part: Cell
    """Its part of the load."""
    where: SidePlacement
    side: Side
    offset: ClockOffset = SAME
    at_ns: int = 0
    """Its start time by its own clock; 0: a single client starts at once."""

    def run(self, timeout_s: float) -> int:
        return self.side.run(timeout_s, self.at_ns) if self.at_ns else self.side.run(timeout_s)


class Clients:
    """Use it in a `with` statement, which ends them."""

    def __init__(self, setup: TrialSetup, cell: Cell) -> None:
        self.setup = setup
        self.cell = cell
        self.all: list[Client] = []
        self.stack = ExitStack()

    def __enter__(self) -> Clients:
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    @property
    def many(self) -> bool:
        return len(self.all) > 1

    def start(self, target: str, wanted: Sequence[str], seed: int) -> None:
        """Starts the clients and waits until all are ready."""
        place = self.setup.placement
        parts = shared(self.cell, place.client_count)
        for number, (part, where) in enumerate(zip(parts, place.clients, strict=False)):
            name = CLIENT if len(parts) == 1 else f"{CLIENT}-{number + 1}"
            options = load_options(self.setup, part, seed + number * SEED_STEP)
            options += ["--samples", samples_of(name)]
            side = self.stack.enter_context(self.setup.side(where, name))
            give_requests(self.setup, part, side)
            side.start(
                client_command(self.setup, part, target, options),
                self.setup.perf,
                wanted,
                channel_option="--gate-fd",
                off_cpus=place.off_cpus,
            )
            self.all.append(Client(name, part, where, side))
        for client in self.all:
            client.side.ready()
        if self.many:
            for client, offset in zip(self.all, place.offsets(), strict=False):
                client.offset = offset

    def open(self) -> None:
        for client in self.all:
            client.side.open(self.setup.placement.watched_by(client.where))

    def run(self, server: Side) -> int:
        """Runs the load; returns the longest client's duration in ns."""
        timeout_s = load_timeout_s(self.cell)
        if not self.many:
            return self.all[0].run(timeout_s)
        at_ns = self.setup.placement.soon_ns()
        for number, client in enumerate(self.all):
            client.at_ns = at_ns + client.offset.ns + self.stagger_ns(number)
        with ThreadPoolExecutor(len(self.all)) as pool:
            try:
                lengths_ns = pool.map(Client.run, self.all, [timeout_s] * len(self.all))
                server.watch_from(at_ns)
                return max(lengths_ns)
            except BaseException as error:
                # After a client's failure the others may finish; otherwise (Ctrl-C) kill them, as
                # the other threads still wait for them.
                if not isinstance(error, RegattaError):
                    for client in self.all:
                        client.side.give_up()
                raise

    def stagger_ns(self, number: int) -> int:
        """How much later than the first it starts: with even arrivals, or requests coincide."""
        even = self.cell.arrivals == "even" and self.cell.rate
        return round(number / self.cell.rate * 1e9) if even and self.cell.rate else 0

    def close(self) -> list[Window]:
        """Closes in reverse order, as each side restores this thread's CPU affinity."""
        return [client.side.close() for client in reversed(self.all)]

    def sum_up(self) -> Window:
        for client in self.all:
            client.side.say("sum up")
        sides = {client.name: client.side for client in self.all}
        files, found = ended(self.cell, sides, STOP_TIMEOUT_S, self.pooled)
        if not self.many:
            return found
        shifted, first_connection = [], 0
        for client, file in zip(self.all, files, strict=True):
            ahead_ns = client.offset.ns - self.all[0].offset.ns
            shifted.append(shift_samples(file, ahead_ns, first_connection))
            first_connection += client.part.connections
        samples = join_samples(shifted)
        whole = with_samples(found.client, records_in(samples))
        return Window(counters=found.counters, client=whole, samples=samples)

    def pooled(self, summaries: list[dict[str, Any]]) -> dict[str, Any]:
        if not self.many:
            return summaries[0]
        return pool_clients(
            summaries,
            [
                ClientStart(one.where.name, one.where.cpus, one.at_ns, one.offset)
                for one in self.all
            ],
        )
