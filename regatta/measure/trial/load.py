"""The client's command line for the measured load, and the warm-up."""

import math
from dataclasses import replace

from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.record.cell import Cell
from regatta.record.study.limits import GRPC, HTTP, HTTPS

LOAD_TIMEOUT_S = 120.0
PATIENCE_MS = 100_000
"""The client's timeout where the listen queue may be full: its kernel then retries the SYN after
1 s and at growing intervals (studies/reports.toml)."""
MAX_CLIENT_SEED = 2**31
# Within a block all contenders get the same random arrivals; slices and blocks differ. A prime, so
# that no two slices of a race share a seed.
SEEDS_PER_BLOCK = 10_007


SPEAKING = {
    HTTP: (),
    HTTPS: ("--tls", "--insecure"),
    "h2": ("--tls", "--insecure", "--http2"),
    "h2c": ("--http2",),
    "grpc": ("--http2",),
    "grpcs": ("--tls", "--insecure", "--http2"),
    "ws": ("--websocket",),
    "wss": ("--tls", "--insecure", "--websocket"),
}
"""The client's options by what a contender speaks; its certificate is often its own."""
REQUESTS, EXPECTED = "requests.txt", "expected.txt"
"""The client's files of requests and of what their answers must be, in its folder."""


def asked_of(cell: Cell) -> str | None:
    """Its path or file of requests, in HTTP."""
    return (cell.requests or cell.path) if cell.dialect == "http" else None


def expected_of(setup: TrialSetup, cell: Cell) -> str | None:
    """The client's file of what the answers must be; None: any success passes."""
    return setup.expected.get((cell.contender, asked_of(cell)))


def give_requests(setup: TrialSetup, cell: Cell, client: Side) -> None:
    """Writes the files that `client_command` names, on the client's host."""
    contender = setup.contenders.get(cell.contender)
    if cell.requests is not None and contender is not None and contender.sent is not None:
        client.put(REQUESTS, contender.sent.text())
    if (expected := expected_of(setup, cell)) is not None:
        client.put(EXPECTED, expected)


def host_of(target: str) -> str:
    """The Host header: many servers in development refuse the addresses of a race's network."""
    return f"localhost:{target.rpartition(':')[2]}"


def client_command(setup: TrialSetup, cell: Cell, target: str, options: list[str]) -> list[str]:
    contender = setup.contenders.get(cell.contender)
    # One client of several may have fewer requests at once than a connection could carry.
    streams = 1 if contender is None else math.gcd(contender.streams, cell.connections)
    connections = cell.connections // streams
    command = [str(setup.programs.client), "-c", str(connections), "--engine", cell.engine]
    command += ["--dialect", cell.dialect, "--json"]
    command += SPEAKING[HTTP if contender is None else contender.speaks]
    command += ["--streams", str(streams)] if streams > 1 else []
    if cell.dialect == "http":
        command += ["--host", host_of(target)]
    if cell.backlog is not None:
        command += ["--timeout", str(PATIENCE_MS)]
    if cell.requests is not None:
        asked = setup.contenders[cell.contender]
        upload = "--grpc" if asked.speaks in GRPC else "--body"
        sent = asked.sent.options(REQUESTS, upload) if asked.sent else ["--requests", REQUESTS]
        command += sent
    elif cell.path is not None:
        command += ["--path", cell.path]
    elif cell.request is not None:
        command += ["--request", cell.request]
    else:
        command += ["-n", str(cell.top)]
    if contender is not None and contender.events is not None:
        command += ["--events", str(contender.events)]
    elif expected_of(setup, cell) is not None:
        command += ["--expect", EXPECTED]
    if cell.until is not None:
        command += ["--until", cell.until]
    return [*command, *options, target]


def load_options(setup: TrialSetup, cell: Cell, seed: int) -> list[str]:
    """Options for the measured load and the idle and slow connections that accompany it."""
    options = ["--load", cell.load]
    if cell.load == "burst":
        options += ["--rounds", str(cell.rounds)]
    else:
        options += ["--duration", f"{cell.duration_s:g}"]
        options += ["--per-connection", str(cell.per_connection)]
    if cell.load == "open":
        options += ["--rate", str(cell.rate), "--arrivals", str(cell.arrivals)]
    if cell.arrivals == "poisson":
        options += ["--seed", str((setup.seed + seed) % MAX_CLIENT_SEED)]
    for name, count in (("--idle", cell.idle), ("--slow", cell.slow)):
        if count:
            options += [name, str(count)]
    return options


def load_timeout_s(cell: Cell) -> float:
    return LOAD_TIMEOUT_S + (cell.duration_s or 0.0)


def sliced(cell: Cell, slices: int) -> list[Cell]:
    """Divides the cell's load into slices of at least one round each."""
    if cell.rounds is not None:
        count = min(slices, cell.rounds)
        return [replace(cell, rounds=share(cell.rounds, count, at)) for at in range(count)]
    assert cell.duration_s is not None, "a load without rounds has a duration"
    return [replace(cell, duration_s=cell.duration_s / slices)] * slices


def shared(cell: Cell, clients: int) -> list[Cell]:
    """Divides the cell's load among clients with at least 1 connection and 1 request/s each."""
    count = min(clients, cell.connections, cell.rate or clients)
    if count == 1:
        return [cell]
    return [
        replace(
            cell,
            connections=share(cell.connections, count, number),
            rate=None if cell.rate is None else share(cell.rate, count, number),
            idle=share(cell.idle, count, number),
            slow=share(cell.slow, count, number),
        )
        for number in range(count)
    ]


def share(whole: int, count: int, number: int) -> int:
    """Share `number` of `whole` in `count` shares that differ by at most one."""
    return whole // count + (number < whole % count)


def warm_up(setup: TrialSetup, cell: Cell, target: str) -> None:
    """One round of requests, so that no worker and no page is touched for the first time later."""
    if cell.cold is not None:
        return
    options = ["--load", "burst", "--rounds", "1"]
    with setup.side(setup.placement.client, "warm-up") as client:
        give_requests(setup, cell, client)
        client.start(client_command(setup, cell, target, options), setup.perf, ())
        status = client.wait(load_timeout_s(cell))
        if status != 0:
            raise client.failure(f"the warm-up failed (exit {status})")


def is_answered(setup: TrialSetup, cell: Cell, target: str) -> bool:
    """Whether one client gets a right answer, from where the race's clients are."""
    single = replace(cell, connections=1)
    with setup.side(setup.placement.client, "first-client") as client:
        give_requests(setup, single, client)
        client.start(client_command(setup, single, target, []), setup.perf, ())
        return client.wait(load_timeout_s(single)) == 0
