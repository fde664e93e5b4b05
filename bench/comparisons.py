"""What is compared, and the goals."""

from __future__ import annotations

from dataclasses import replace

from bench.loads import SERVER_CPU, Burst, Load, Wrk
from bench.rows import Best, Goal, Row, Trial
from bench.servers import BareEpoll, Nginx, Ours, Server

# Those that one CPU serves best; which of them it is, a screening finds out.
CANDIDATES = ("epoll", "epoll-edge", "reactors", "uring", "uring-reactors")
SCANNED = ("iterative", "thread-per-client", "select")

FEW, MANY = 50, 1_000
# Connecting is part of every load, and takes longer with many.
FEW_S, MANY_S = 1, 2


def keep_alive(connections: int) -> Wrk:
    return Wrk(connections, FEW_S if connections == FEW else MANY_S)


def best(load: Load) -> Best:
    return Best(tuple(Ours(design) for design in CANDIDATES), load)


def against(ours: Server | Best, peer: Server, load: Load, goal: Goal) -> Row:
    """A row on server CPU in which both sides have the same load."""
    name = "best design" if isinstance(ours, Best) else ours.name
    side = ours if isinstance(ours, Best) else Trial(ours, load)
    return Row(
        f"{name} / {peer.name}, {load.name}",
        group=load.name,
        figure=SERVER_CPU,
        ours=side,
        peer=Trial(peer, load),
        goal=goal,
    )


def keep_alive_rows() -> list[Row]:
    rows = []
    for connections in (FEW, MANY):
        load = keep_alive(connections)
        rows += [
            against(Ours("epoll"), BareEpoll(), load, Goal(1.05)),
            against(best(load), Nginx(), load, Goal(0.8)),
        ]
    return rows


def scan_rows() -> list[Row]:
    """The peer is the same server with the reports' scan: opendir, fopen and fscanf a process."""
    return [
        Row(
            f"scan, {design}",
            group=f"scan, {design}",
            figure=SERVER_CPU,
            ours=Trial(Ours(design, work="scan"), Burst(100)),
            peer=Trial(Ours(design, work="scan", program="reports-server"), Burst(100)),
            goal=Goal(0.8),
        )
        for design in SCANNED
    ]


def comparisons() -> list[Row]:
    """Every row of the table, in its order."""
    return [*keep_alive_rows(), *scan_rows()]


def present(row: Row, designs: dict[str, str | None]) -> Row | str:
    """The row as it can be measured here, or a sentence why it is left out.

    `designs`: those of this server, each with None or the reason why it cannot run here.
    """
    if isinstance(row.ours, Best):
        servers = tuple(server for server in row.ours.servers if lacks(server, designs) is None)
        if not servers:
            return f"this server has none of {', '.join(CANDIDATES)}"
        row = replace(row, ours=replace(row.ours, servers=servers))
    for trial in row.trials():
        lack = lacks(trial.server, designs)
        if lack is not None:
            return lack
    return row


def lacks(server: Server, designs: dict[str, str | None]) -> str | None:
    """Why a server of ours cannot run here; None: it can, or is a peer."""
    if not isinstance(server, Ours):
        return None
    if server.design not in designs:
        return f"this server has no design {server.design}"
    return designs[server.design]
