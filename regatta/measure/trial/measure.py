"""One measured load, with the counters of both sides on until the client reports its end.

The server's accounts run from idle to idle, so they include all the work that the load caused.

Its client side is one client, or several that share the load. Several start at the same moment,
which each is given by its own clock, and each reports when it did start. Their counts are added;
their samples are merged into one file, with times by the first client's clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any

from regatta.errors import HostLostError, RegattaError, TrialError
from regatta.measure.accounts import disturbance, process_tree
from regatta.measure.accounts.disturbance import Others
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
    began_apart,
    merge_counters,
    of_sides,
    pool_clients,
    with_samples,
)
from regatta.measure.trial.program import STOP_TIMEOUT_S
from regatta.measure.trial.server import read_json
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.record.cell import Cell
from regatta.record.counters import KERNEL_MEMORY, MEMORY, keyed
from regatta.record.rate_search import due
from regatta.record.records import CLIENT, KERNEL, PERF, SERVER
from regatta.record.samples import check_samples, join_samples, records_in, shift_samples

SEED_STEP = 1_000_003
"""Between the seeds of two clients of a window; a prime larger than any block's offset."""


class AnswersError(TrialError):
    """Not every request was answered correctly; `summary` has the details."""

    def __init__(self, what: str, summary: dict[str, Any]) -> None:
        super().__init__(what)
        self.summary = summary


def check_answers(cell: Cell, summary: dict[str, Any]) -> None:
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
    statuses = {name: side.wait(timeout_s) for name, side in sides.items()}
    printed = {name: text for name, side in sides.items() if (text := side.stdout()).strip()}
    summaries = [read_json(text, CLIENT) for text in printed.values()]
    whole: dict[str, Any] = {}
    if len(summaries) == len(sides):
        whole = pool(summaries)
        check_answers(cell, whole)
    for name, status in statuses.items():
        if status != 0 or name not in printed:
            raise sides[name].failure(f"the {name} exited with status {status}")
    files = []
    for (name, side), summary in zip(sides.items(), summaries, strict=True):
        file = side.file(samples_of(name))
        if file is None:
            raise side.failure("the client wrote no samples")
        check_samples(file, due(summary))
        files.append(file)
    by_perf = [keyed(CLIENT, PERF, side.counters()) for side in sides.values()]
    usage = keyed(CLIENT, KERNEL, process_tree.client_counters(whole.get("usage")))
    counters = merge_counters(by_perf, [1] * len(by_perf)) | usage
    return files, Window(counters=counters, client=whole, samples=files[0])


@dataclass
class Client:
    name: str
    part: Cell
    where: SidePlacement
    side: Side
    offset: ClockOffset = SAME
    at_ns: int = 0
    """Its start time by its own clock; 0: a single client starts at once."""

    def run(self, timeout_s: float) -> int:
        return self.side.run(timeout_s, self.at_ns) if self.at_ns else self.side.run(timeout_s)


class Clients(AbstractContextManager["Clients"]):
    """Use it in a `with` statement, which ends them."""

    def __init__(self, setup: TrialSetup, cell: Cell) -> None:
        self.setup = setup
        self.cell = cell
        self.all: list[Client] = []
        self.stack = ExitStack()

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
                ClientStart(client.where.name, client.where.cpus, client.at_ns, client.offset)
                for client in self.all
            ],
        )


def measure(  # noqa: PLR0913, PLR0917  (all that describes a load)
    setup: TrialSetup, cell: Cell, target: str, server: Side, wanted: Sequence[str], seed: int
) -> Window:
    """Runs the load of the cell against a server that is up.

    The window opens at the clients and then at the server; only then the clients start, and they
    report their end before the server's half closes. So a single client needs no synchronised
    clock, messages between hosts do not lengthen the load: nothing waits for one within the window.
    """
    place = setup.placement
    with Clients(setup, cell) as clients:
        clients.start(target, wanted, seed)
        clients.open()
        try:
            server.open(place.watched_by(place.server), rests=True)
            length_ns = clients.run(server)
            served = server.close()
            # The clients still hold their idle connections open.
            held = server.held(MEMORY, KERNEL_MEMORY) if setup.whole_cost else []
        except BaseException:
            # Before the clients end, so that CPU affinity is restored in reverse order.
            with suppress(HostLostError):
                server.abandon()
            raise
        lab = Window(length_ns=length_ns, counters=keyed(SERVER, KERNEL, held))
        return of_sides([served, *clients.close(), clients.sum_up(), lab])


def others_in(setup: TrialSetup, window: Window) -> Others:
    """CPU time that others took, also programs that have ended."""
    used_ns = window.cpu_ns(SERVER, CLIENT)
    return disturbance.with_ended(window.others, used_ns, setup.placement.cpu_count)


def disturbed_by(setup: TrialSetup, window: Window, others: Others | None = None) -> str | None:
    """What disturbed it, in words; None if nothing did."""
    found = (
        disturbance.too_much(others or others_in(setup, window), setup.disturbance_limit_percent),
        began_apart(window.client),
    )
    return " and ".join(filter(None, found)) or None


def measure_whole(  # noqa: PLR0913, PLR0917  (the same)
    setup: TrialSetup, cell: Cell, target: str, server: Side, wanted: Sequence[str], seed: int
) -> Window:
    """Runs the burst against a server that was just started, and then lets it idle.

    The client is also counted from exec to exit. The server's accounts cover its life so far; what
    others took is read over that life instead.
    """
    load = [*load_options(setup, cell, seed), "--samples", samples_of(CLIENT)]
    command = client_command(setup, cell, target, load)
    with setup.side(
        setup.placement.client, CLIENT, whole=True, counts_taskset=cell.counts_taskset
    ) as client:
        give_requests(setup, cell, client)
        start_ns = time.monotonic_ns()
        client.start(command, setup.perf, wanted)
        _, found = ended(
            cell, {CLIENT: client}, load_timeout_s(cell), lambda summaries: summaries[0]
        )
        # This sleep is measured on purpose: such a count includes the idle server.
        time.sleep(cell.linger_s)
        life = keyed(SERVER, KERNEL, process_tree.server_counters(None, server.accounts()))
        text = client.printed()
        return replace(
            found,
            length_ns=time.monotonic_ns() - start_ns,
            counters=life | found.counters,
            printed={CLIENT: text} if text else {},
        )
