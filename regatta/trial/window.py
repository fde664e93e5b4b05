"""One measured load, from the moment when both sides' counters are on until the client says that
it is done. The server's accounts are of all that the load caused: from rest to rest.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from regatta.errors import HostLostError, TrialError
from regatta.ledger.cell import Cell
from regatta.ledger.counters import Counter
from regatta.ledger.result import CLIENT, SERVER
from regatta.machine import disturbance
from regatta.machine.disturbance import Others
from regatta.machine.whole_cpu import BySide
from regatta.trial.load import client_command, load_options, load_timeout_s
from regatta.trial.program import STOP_TIMEOUT_S
from regatta.trial.rest import Ends
from regatta.trial.serve import read_json
from regatta.trial.setup import TrialSetup
from regatta.trial.side import Side

SAMPLES = "samples"


class AnswersError(TrialError):
    """Not every request was answered correctly; the client's summary tells more."""

    def __init__(self, what: str, summary: dict[str, Any]) -> None:
        super().__init__(what)
        self.summary = summary


@dataclass(frozen=True)
class Window:
    """The result of one measured load."""

    length_ns: int
    accounts: list[Counter]
    """The kernel's accounts of the server."""
    client: dict[str, Any]
    """The client's own summary."""
    client_counters: list[Counter]
    """perf's."""
    samples: bytes
    others: Others
    """Who else took the race's CPUs."""
    rest: Ends | None = None
    """None for a whole process."""
    cpus: BySide = field(default_factory=dict)
    """All that each side's CPUs did."""
    client_printed: str = ""
    """What perf stat printed of a whole client; empty of a window, and without perf."""


def measure(  # noqa: PLR0913, PLR0917  (what a load is made of)
    setup: TrialSetup, cell: Cell, target: str, server: Side, wanted: Sequence[str], seed: int
) -> Window:
    """Runs the load of the cell against a server that is up.

    A window is opened at the client and then at the server; only then the client goes, and what it
    has done is told before the server's half is closed. So no clocks have to agree, and what is
    said between hosts lengthens no load. One that is not on this host hears nothing in between.
    """
    load = [*load_options(setup, cell, seed), "--samples", SAMPLES]
    command = client_command(setup, cell, target, load)
    place = setup.placement
    with setup.side(place.client, CLIENT) as client:
        client.start(command, setup.perf, wanted, speaks="--gate-fd", off_cpus=place.off_cpus)
        client.ready()
        client.open(place.watched_by(CLIENT))
        try:
            server.open(place.watched_by(SERVER), rests=True)
            length_ns = client.run(load_timeout_s(cell))
            served = server.close()
        except BaseException:
            # Before the client ends: each gives back the CPUs that the other had left it.
            with suppress(HostLostError):
                server.abandon()
            raise
        done = client.close()
        client.say("sum up")
        summary = sum_up(cell, client, STOP_TIMEOUT_S)
        halves = (served.meanwhile, done.meanwhile)
        return Window(
            length_ns=length_ns,
            accounts=served.accounts,
            client=summary,
            client_counters=client.counters(),
            samples=read_samples(client),
            others=disturbance.at_once([half.others for half in halves]),
            rest=served.rest,
            cpus={side: row for half in halves for side, row in half.cpus.items()},
        )


def measure_whole(  # noqa: PLR0913, PLR0917  (the same)
    setup: TrialSetup, cell: Cell, target: str, server: Side, wanted: Sequence[str], seed: int
) -> Window:
    """Runs the burst against a server that has just been started, and lets it idle after it.

    The client is counted as a whole too. The server's accounts are of its life up to now.
    """
    load = [*load_options(setup, cell, seed), "--samples", SAMPLES]
    command = client_command(setup, cell, target, load)
    with setup.side(
        setup.placement.client, CLIENT, whole=True, counts_taskset=cell.counts_taskset
    ) as client:
        start_ns = time.monotonic_ns()
        client.start(command, setup.perf, wanted)
        summary = sum_up(cell, client, load_timeout_s(cell))
        # This wait is measured: an idling server is part of such a count.
        time.sleep(cell.linger_s)
        return Window(
            length_ns=time.monotonic_ns() - start_ns,
            accounts=server.life(),
            client=summary,
            client_counters=client.counters(),
            samples=read_samples(client),
            others=Others(),  # they are asked for over all of the process's life
            client_printed=client.printed(),
        )


def read_samples(client: Side) -> bytes:
    """Of every request's latency."""
    samples = client.file(SAMPLES)
    if samples is None:
        raise client.failure("the client wrote no samples")
    return samples


def sum_up(cell: Cell, client: Side, timeout_s: float) -> dict[str, Any]:
    """The client's report of its load; an error unless every request was answered."""
    status = client.wait(timeout_s)
    text = client.stdout()
    summary: dict[str, Any] | None = None
    if text.strip():
        summary = read_json(text, CLIENT)
        check_answers(cell, summary)
    if status != 0 or summary is None:
        raise client.failure(f"the client exited with status {status}")
    return summary


def check_answers(cell: Cell, summary: dict[str, Any]) -> None:
    """Every request must have been answered correctly."""
    requests, answered = summary.get("requests"), summary.get("answered")
    if not isinstance(requests, int) or not isinstance(answered, int):
        raise AnswersError("the client's JSON has no numbers of requests and answers", summary)
    expected = None if cell.rounds is None else cell.rounds * cell.connections
    if expected is not None and requests != expected:
        what = f"the client made {requests} requests where {expected} were planned"
        raise AnswersError(what, summary)
    if requests == 0:
        raise AnswersError("the client made no request", summary)
    if answered != requests:
        kinds = summary.get("errors")
        named = kinds.items() if isinstance(kinds, dict) else ()
        wrong = ", ".join(f"{count} {kind}" for kind, count in named if count)
        raise AnswersError(
            f"{requests - answered} of {requests} requests failed ({wrong})", summary
        )
