"""One trial: a fresh server, a warm-up, one measured load, and everything that was counted.

The window lies between the moment when both sides' counters are on and the moment when the
client says that its load is done; nothing else is measured.
"""

from __future__ import annotations

import shutil
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from regatta import accounting
from regatta.counters import Counter, select
from regatta.counters import Output as PerfOutput
from regatta.errors import RegattaError, TrialError
from regatta.plan import TIMED
from regatta.rig import Rig
from regatta.samples import pack_samples
from regatta.serve import check_pinned, read_json, start_server, stop_server
from regatta.side import READY_TIMEOUT_S, STOP_TIMEOUT_S, Side
from regatta.study import Cell

LOAD_TIMEOUT_S = 120.0
DYING_S = 0.2
MAX_CLIENT_SEED = 2**31

OK = "ok"
FAILED = "failed"
SERVER = "server"
CLIENT = "client"
PERF = "perf"
KERNEL = "kernel"


@dataclass(frozen=True)
class Row:
    """A counter and where it comes from."""

    side: str
    origin: str
    counter: Counter


@dataclass
class Result:
    """What the ledger keeps of a trial."""

    status: str = OK
    reason: str | None = None
    client_bound: str | None = None
    """Why the client set the pace in this trial, in its own words."""
    started_at: float = 0.0
    window_ns: int | None = None
    requests: int | None = None
    answered: int | None = None
    throughput_per_s: float | None = None
    server: dict[str, Any] | None = None
    client: dict[str, Any] | None = None
    conditions: dict[str, Any] = field(default_factory=dict)
    samples: bytes | None = None
    attempt: int = 1
    """Counts the tries of this block and cell: a disturbed trial is run again."""
    disturbed: str | None = None
    """What else took the CPUs of this trial beyond the limit, in words; None if nothing did."""
    counters: list[Row] = field(default_factory=list)

    def cpu_us_per_request(self) -> float | None:
        """For the progress display: the server's CPU time, by the kernel's own accounting."""
        for row in self.counters:
            found = (row.side, row.origin, row.counter.event)
            if found == (SERVER, KERNEL, accounting.CPU_TIME) and row.counter.value is not None:
                return row.counter.value / 1000 / self.answered if self.answered else None
        return None


def conditions() -> dict[str, Any]:
    """What else goes on on the host when the trial starts."""
    load = Path("/proc/loadavg").read_text().split()
    processes = sum(1 for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return {
        "load_average": [float(part) for part in load[:3]],
        "threads": int(load[3].partition("/")[2]),
        "processes": processes,
    }


def client_command(rig: Rig, cell: Cell, target: str, options: list[str]) -> list[str]:
    command = [str(rig.programs.client), "-c", str(cell.connections), "--engine", cell.engine]
    command += ["--dialect", cell.dialect, "--json"]
    command += ["-n", str(cell.top)] if cell.path is None else ["--path", cell.path]
    return [*command, *options, target]


def load_options(rig: Rig, cell: Cell, block: int) -> list[str]:
    """The measured load, and the connections beside it that are not measured."""
    options = ["--load", cell.load]
    if cell.load == "burst":
        options += ["--rounds", str(cell.rounds)]
    else:
        options += ["--duration", f"{cell.duration_s:g}"]
        options += ["--per-connection", str(cell.per_connection)]
    if cell.load == "open":
        options += ["--rate", str(cell.rate), "--arrivals", str(cell.arrivals)]
    if cell.arrivals == "poisson":
        # Within a block all meet the same arrivals; from block to block they differ.
        options += ["--seed", str((rig.seed + block) % MAX_CLIENT_SEED)]
    for name, count in (("--idle", cell.idle), ("--slow", cell.slow)):
        if count:
            options += [name, str(count)]
    return options


def load_timeout_s(cell: Cell) -> float:
    return LOAD_TIMEOUT_S + (cell.duration_s or 0.0)


def warm_up(rig: Rig, cell: Cell, target: str) -> None:
    """A first load from a client of its own, so that no measured request meets cold code."""
    if rig.warmup_rounds == 0:
        return
    options = ["--load", "burst", "--rounds", str(rig.warmup_rounds)]
    with Side("warm-up", rig.scratch) as client:
        client.start(rig.placement.client, client_command(rig, cell, target, options), rig.perf, ())
        status = client.wait(load_timeout_s(cell))
        if status != 0:
            raise client.failure(f"the warm-up left with exit status {status}")


def switch(sides: list[Side], command: str) -> None:
    """Tells all sides' counters, then waits for all: they change as nearly at once as can be."""
    controls = [side.control for side in sides if side.control is not None]
    for control in controls:
        control.send(command)
    for control in controls:
        control.wait()


def tell(gate: socket.socket, word: str, client: Side) -> None:
    try:
        gate.sendall(word.encode() + b"\n")
    except BrokenPipeError as error:
        raise client.failure(f"the client ended before it was told to {word}") from error


def run_load(
    rig: Rig, cell: Cell, command: list[str], server: Side, client: Side
) -> tuple[int, list[Counter]]:
    """The measured load: the length of the window, and the server's accounts over it."""
    assert server.pid is not None
    gate, gate_end = socket.socketpair()
    with gate:
        with gate_end:
            gated = [*command, "--gate-fd", str(gate_end.fileno())]
            client.start(rig.placement.client, gated, rig.perf, server.wanted, gate_end.fileno())
        if client.read_line(gate.fileno(), READY_TIMEOUT_S, "ready") != "ready":
            raise client.failure("the client said something else than ready")
        client.find_program()
        before = accounting.read(server.pid)
        switch([server, client], "enable")
        start_ns = time.monotonic_ns()
        tell(gate, "go", client)
        said = client.read_line(gate.fileno(), load_timeout_s(cell), "done")
        window_ns = time.monotonic_ns() - start_ns
        switch([server, client], "disable")
        after = accounting.read(server.pid)
        if said != "done":
            raise client.failure("the client said something else than done")
        tell(gate, "sum up", client)
    return window_ns, accounting.server_counters(before, after)


def check_answers(cell: Cell, summary: dict[str, Any]) -> None:
    """Every request must have been answered correctly."""
    requests, answered = summary.get("requests"), summary.get("answered")
    if not isinstance(requests, int) or not isinstance(answered, int):
        raise TrialError("the client's JSON has no numbers of requests and answers")
    expected = None if cell.rounds is None else cell.rounds * cell.connections
    if expected is not None and requests != expected:
        raise TrialError(f"the client made {requests} requests where {expected} were planned")
    if requests == 0:
        raise TrialError("the client made no request")
    if answered != requests:
        kinds = summary.get("errors")
        named = kinds.items() if isinstance(kinds, dict) else ()
        wrong = ", ".join(f"{count} {kind}" for kind, count in named if count)
        raise TrialError(f"{requests - answered} of {requests} requests failed ({wrong})")


def rows(side: str, origin: str, counters: list[Counter]) -> list[Row]:
    return [Row(side, origin, counter) for counter in counters]


def perf_rows(side: Side, wanted: tuple[str, ...]) -> list[Row]:
    """perf's counters of a side; where it has no perf, each wanted one is not supported."""
    found = side.counters() if side.control is not None else select(wanted, PerfOutput((), ()))
    return rows(side.name, PERF, found)


def sum_up(cell: Cell, client: Side, result: Result) -> None:
    """What the client says of its load; an error unless every request was answered."""
    status = client.wait(STOP_TIMEOUT_S)
    text = client.stdout()
    if text.strip():
        result.client = read_json(text, CLIENT)
        result.requests = result.client.get("requests")
        result.answered = result.client.get("answered")
        result.throughput_per_s = result.client.get("throughput_per_s")
        result.client_bound = result.client.get("client_bound")
        check_answers(cell, result.client)
    if status != 0 or result.client is None:
        raise client.failure(f"the client left with exit status {status}")


def measure(rig: Rig, cell: Cell, load: list[str], wanted: tuple[str, ...], result: Result) -> None:
    """The steps of a trial, in order. What is known goes into the result at once."""
    with ExitStack() as stack:
        server = stack.enter_context(Side(SERVER, rig.scratch))
        client = stack.enter_context(Side(CLIENT, rig.scratch))
        try:
            target = start_server(rig, cell, wanted, server)
            warm_up(rig, cell, target)
            command = client_command(rig, cell, target, [*load, "--samples", "samples"])
            result.window_ns, accounts = run_load(rig, cell, command, server, client)
            sum_up(cell, client, result)
        except TrialError as error:
            # A dying server closes its connections a moment before it is dead.
            if server.ended(within_s=DYING_S):
                raise server.failure(f"the server died in mid-trial ({error})") from error
            raise
        finally:
            if cell.contender in rig.contenders:
                result.server = {"output": server.said()}
        check_pinned(rig, cell, server)
        result.server = stop_server(rig, cell, server) or result.server
        result.samples = pack_samples((rig.scratch / "samples").read_bytes(), result.requests or 0)
        result.counters += perf_rows(server, wanted)
        result.counters += rows(SERVER, KERNEL, accounts)
        result.counters += perf_rows(client, wanted)
        usage = (result.client or {}).get("usage")
        result.counters += rows(CLIENT, KERNEL, accounting.client_counters(usage))


def fresh_scratch(folder: Path) -> None:
    """An empty folder for the files of one trial; what a killed race left there goes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def run_trial(rig: Rig, cell: Cell, kind: str, block: int = 0) -> Result:
    """Runs one trial. A failure is a result too: it says why, and keeps no counter."""
    wanted = () if kind == TIMED else rig.events
    result = Result(started_at=time.time(), conditions=conditions())
    fresh_scratch(rig.scratch)
    try:
        measure(rig, cell, load_options(rig, cell, block), wanted, result)
    except (RegattaError, OSError) as error:
        result = replace(result, status=FAILED, reason=str(error), counters=[])
    finally:
        shutil.rmtree(rig.scratch, ignore_errors=True)
    return result
