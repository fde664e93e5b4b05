"""One measured load, from the moment when both sides' counters are on until the client says that
it is done. The server's accounts are of all that the load caused: from rest to rest.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from regatta.errors import TrialError
from regatta.ledger.cell import Cell
from regatta.ledger.counters import Counter
from regatta.ledger.result import CLIENT
from regatta.machine import accounting, disturbance
from regatta.machine.disturbance import Others
from regatta.machine.line import Line
from regatta.machine.perf_output import Output as PerfOutput
from regatta.machine.perf_output import select
from regatta.machine.whole_cpu import BySide
from regatta.trial.load import client_command, load_options, load_timeout_s
from regatta.trial.rest import Ends, away_from
from regatta.trial.serve import read_json
from regatta.trial.setup import TrialSetup
from regatta.trial.side import READY_TIMEOUT_S, STOP_TIMEOUT_S, Side

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


def measure(setup: TrialSetup, cell: Cell, target: str, server: Side, seed: int) -> Window:
    """Runs the load of the cell against a server that is up."""
    load = [*load_options(setup, cell, seed), "--samples", SAMPLES]
    command = client_command(setup, cell, target, load)
    with Side(CLIENT, setup.scratch) as client:
        length_ns, accounts, cpus, others, rest = run_load(setup, cell, command, server, client)
        summary = sum_up(cell, client, STOP_TIMEOUT_S)
        return Window(
            length_ns=length_ns,
            accounts=accounts,
            client=summary,
            client_counters=perf_counters(client, server.wanted),
            samples=(setup.scratch / SAMPLES).read_bytes(),
            others=others,
            rest=rest,
            cpus=cpus,
        )


def measure_whole(setup: TrialSetup, cell: Cell, target: str, server: Side, seed: int) -> Window:
    """Runs the burst against a server that has just been started, and lets it idle after it.

    The client is counted as a whole too. The server's accounts are of its life up to now.
    """
    load = [*load_options(setup, cell, seed), "--samples", SAMPLES]
    command = client_command(setup, cell, target, load)
    counts_taskset = cell.counts_taskset
    with Side(CLIENT, setup.scratch, whole=True, counts_taskset=counts_taskset) as client:
        start_ns = time.monotonic_ns()
        client.start(setup.placement.client, command, setup.perf, server.wanted)
        summary = sum_up(cell, client, load_timeout_s(cell))
        # This wait is measured: an idling server is part of such a count.
        time.sleep(cell.linger_s)
        return Window(
            length_ns=time.monotonic_ns() - start_ns,
            accounts=accounting.life_counters(server.accounts()),
            client=summary,
            client_counters=perf_counters(client, server.wanted),
            samples=(setup.scratch / SAMPLES).read_bytes(),
            others=Others(),  # they are asked for over all of the process's life
            client_printed=client.printed(),
        )


def run_load(
    setup: TrialSetup, cell: Cell, command: list[str], server: Side, client: Side
) -> tuple[int, list[Counter], BySide, Others, Ends]:
    """The measured load: the window's length, the server's accounts, those of all that both sides'
    CPUs did, what others did, and the rest.

    The accounts are read when the server is at rest, before the load and after it. One that is not
    at rest before has work of its own, inseparable from the load's: its account is
    closed with the client's `done`. The others' clocks are read before the server's accounts and
    after them: not in the window.
    """
    cpus = setup.placement.cpus()
    place = setup.placement.client
    with place.line(setup.scratch, client.name) as line, away_from(setup.placement.server.cpus):
        load_command = [*command, "--gate-fd", str(line.number)]
        client.start(place, load_command, setup.perf, server.wanted, line)
        if client.read_line(line, READY_TIMEOUT_S, "ready") != "ready":
            raise client.failure("the client wrote something other than `ready`")
        client.find_program()
        opening = server.come_to_rest()
        others_before = disturbance.read_clocks(cpus, place.cpus)
        with setup.placement.whole_cpu.account() as done:
            before = server.accounts()
            switch([server, client], "enable")
            start_ns = time.monotonic_ns()
            send_word(line, "go", client)
            word = client.read_line(line, load_timeout_s(cell), "done")
            window_ns = time.monotonic_ns() - start_ns
            closing = server.come_to_rest() if opening.found else None
            switch([server, client], "disable")
            after = server.accounts()
        others_after = disturbance.read_clocks(cpus, place.cpus)
        others = disturbance.others_between(others_before, others_after, cpus)
        if word != "done":
            raise client.failure("the client wrote something other than `done`")
        send_word(line, "sum up", client)
    rest = Ends(opening, closing)
    return window_ns, accounting.server_counters(before, after), done, others, rest


def switch(sides: list[Side], command: str) -> None:
    """Tells all sides' counters, then waits for all, so that they switch nearly at once."""
    controls = [side.control for side in sides if side.control is not None]
    for control in controls:
        control.send(command)
    for control in controls:
        control.wait()


def send_word(line: Line, word: str, client: Side) -> None:
    try:
        line.say(word)
    except BrokenPipeError as error:
        raise client.failure(f"the client exited before it was told to {word}") from error


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


def perf_counters(side: Side, wanted: Sequence[str]) -> list[Counter]:
    """perf's counters of a side; without perf each wanted one is `not supported`."""
    if side.counting:
        return side.counters()
    return select(tuple(wanted), PerfOutput((), ()))
