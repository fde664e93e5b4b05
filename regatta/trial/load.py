"""The client's part of a trial: how it is called for the measured load, and the warm-up."""

from dataclasses import replace

from regatta.ledger.cell import Cell
from regatta.trial.setup import TrialSetup

LOAD_TIMEOUT_S = 120.0
PATIENCE_MS = 100_000
"""Of a client that may find the listen queue full: its kernel asks again, at first after 1 s, then
at growing distances (studies/reports.toml)."""
MAX_CLIENT_SEED = 2**31
# Within a block all get the same random arrivals; from slice to slice and block to block they
# differ. A prime, so that no two of a race share theirs.
SEEDS_PER_BLOCK = 10_007


def client_command(setup: TrialSetup, cell: Cell, target: str, options: list[str]) -> list[str]:
    command = [str(setup.programs.client), "-c", str(cell.connections), "--engine", cell.engine]
    command += ["--dialect", cell.dialect, "--json"]
    if cell.backlog is not None:
        command += ["--timeout", str(PATIENCE_MS)]
    if cell.path is not None:
        command += ["--path", cell.path]
    elif cell.request is not None:
        command += ["--request", cell.request]
    else:
        command += ["-n", str(cell.top)]
    return [*command, *options, target]


def load_options(setup: TrialSetup, cell: Cell, seed: int) -> list[str]:
    """The measured load, and the unmeasured connections beside it."""
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
    """The cell's load in so many parts, each at least one round."""
    if cell.rounds is not None:
        count = min(slices, cell.rounds)
        share, rest = divmod(cell.rounds, count)
        return [replace(cell, rounds=share + (number < rest)) for number in range(count)]
    assert cell.duration_s is not None, "a load without rounds has a duration"
    return [replace(cell, duration_s=cell.duration_s / slices)] * slices


def shared(cell: Cell, clients: int) -> list[Cell]:
    """The cell's load among so many clients, each with a connection and a request a second."""
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
    """Of a whole in so many shares that differ by one at most."""
    return whole // count + (number < whole % count)


def warm_up(setup: TrialSetup, cell: Cell, target: str) -> None:
    """A first load by a client of its own, so that measured requests meet warm code."""
    if setup.warmup_rounds == 0:
        return
    options = ["--load", "burst", "--rounds", str(setup.warmup_rounds)]
    with setup.side(setup.placement.client, "warm-up") as client:
        client.start(client_command(setup, cell, target, options), setup.perf, ())
        status = client.wait(load_timeout_s(cell))
        if status != 0:
            raise client.failure(f"the warm-up failed (exit {status})")
