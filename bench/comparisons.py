"""What is compared, and the goals.

Where the peer of a row is a server, both sides have one CPU, the same bytes to answer and, where a
row does not say otherwise, the same client: wrk with one thread.
"""

from __future__ import annotations

from dataclasses import replace

from bench.loads import (
    CLIENT_CPU,
    LATE,
    SERVER_CPU,
    THROUGHPUT,
    Burst,
    Closed,
    GetClient,
    HalfOpen,
    Load,
    RedisBenchmark,
    Wrk,
)
from bench.rest import MEMORY, Rest
from bench.rows import Best, Goal, Row, Trial
from bench.servers import Bare, Memcached, Nginx, Ours, Redis, Server

# Those that serve best on one CPU; which of them it is, a screening finds out.
CANDIDATES = ("epoll", "epoll-edge", "reactors", "uring", "uring-reactors")
SCANNED = ("iterative", "thread-per-client", "select")
AT_REST = ("poll", "epoll", "epoll-edge", "reactors", "uring")

# Connecting is part of every load, and takes longer with many.
FEW, MANY = Wrk(50), Wrk(1_000, seconds=2)
SHORT = Wrk(100, closing=True)
BUSY = Wrk(100)
IDLE = 10_000
# All that select can watch, less the busy ones and a few descriptors of its own.
SELECT_IDLE = 850
# Memory hardly varies, and ten thousand connections take seconds to make.
MEMORY_BLOCKS = 3


def best(screened_under: Load, load: Load, deferred: bool = False) -> Best:
    servers = tuple(Ours(design, deferred=deferred) for design in CANDIDATES)
    return Best(servers, screened_under, load)


def cost(name: str, group: str, ours: Trial | Best, peer: Trial, goal: float | None) -> Row:
    """A row on the server's CPU time; without a goal it is there to explain another."""
    return Row(name, group, SERVER_CPU, ours, peer, None if goal is None else Goal(goal))


def keep_alive_rows(load: Wrk) -> list[Row]:
    """The bare loops stand beside nginx too: nothing on epoll or io_uring costs less than they."""
    epoll, uring = Trial(Ours("epoll"), load), Trial(Ours("uring"), load)
    bare_epoll, bare_uring = Trial(Bare("epoll"), load), Trial(Bare("uring"), load)
    nginx, name = Trial(Nginx(), load), load.name
    return [
        cost(f"epoll / bare epoll loop, {name}", name, epoll, bare_epoll, 1.05),
        cost(f"uring / bare uring loop, {name}", name, uring, bare_uring, None),
        cost(f"uring / epoll, {name}", name, uring, epoll, 1.0),
        cost(f"best design / nginx, {name}", name, best(FEW, load), nginx, 0.8),
        cost(f"bare epoll loop / nginx, {name}", name, bare_epoll, nginx, None),
        cost(f"bare uring loop / nginx, {name}", name, bare_uring, nginx, None),
    ]


def store_rows() -> list[Row]:
    """Each side by a client of its own, and both by the same lean one."""
    lean = GetClient(FEW.connections)
    by_lean = f"both by {lean.name}"
    redis = Trial(Redis(), RedisBenchmark(FEW.connections))
    return [
        cost(
            f"best design by wrk / redis-server by {redis.load.name}",
            FEW.name,
            best(FEW, FEW),
            redis,
            1.0,
        ),
        *(
            cost(
                f"best design / {peer.name}, {by_lean}",
                FEW.name,
                best(FEW, lean),
                Trial(peer, lean),
                1.0,
            )
            for peer in (Redis(), Memcached())
        ),
    ]


def short_rows() -> list[Row]:
    """Once as both come, and once as an expert would set up both: with deferred accept."""
    name = SHORT.name
    return [
        cost(
            f"best design / nginx, {'with' if deferred else 'without'} deferred accept, {name}",
            name,
            best(SHORT, SHORT, deferred),
            Trial(Nginx(deferred), SHORT),
            0.9,
        )
        for deferred in (False, True)
    ]


def scan_rows() -> list[Row]:
    """The peer is the same server with the reports' scan: opendir, fopen and fscanf a process."""
    load = Burst(100)
    return [
        cost(
            f"scan / the reports' scan, {design}",
            f"scan, {design}",
            Trial(Ours(design, work="scan"), load),
            Trial(Ours(design, work="scan", program="reports-server"), load),
            0.8,
        )
        for design in SCANNED
    ]


def client_rows() -> list[Row]:
    """Both clients ask the same server, of which `epoll / bare epoll loop` has the trials too."""
    ours, wrk = Trial(Ours("epoll"), Closed(FEW.connections)), Trial(Ours("epoll"), FEW)
    half = Trial(Ours("epoll"), HalfOpen(FEW.connections))
    return [
        Row(f"regatta-client / wrk, {FEW.name}", FEW.name, CLIENT_CPU, ours, wrk, Goal(1.0)),
        Row(half.load.name, FEW.name, LATE, half, None, Goal(100)),
    ]


def beside_idle(design: str, idle: int, goal: float | None) -> list[Row]:
    """What idle connections take from the throughput of busy ones, and add to the server's cost."""
    without = Trial(Ours(design), BUSY)
    beside = Trial(Ours(design), replace(BUSY, idle=idle))
    name = f"{design}, {beside.load.name} / without"
    group = f"{design} beside idle"
    bound = None if goal is None else Goal(goal, at_least=True)
    return [
        Row(name, group, THROUGHPUT, beside, without, bound),
        Row(f"{name} (CPU)", group, SERVER_CPU, beside, without, None),
    ]


def idle_rows() -> list[Row]:
    return [
        *beside_idle("epoll", IDLE, 0.9),
        *beside_idle("uring", IDLE, 0.9),
        *beside_idle("select", SELECT_IDLE, None),
        *beside_idle("poll", IDLE, None),
    ]


def memory_rows() -> list[Row]:
    return [
        Row(
            f"{design}, {load.name}",
            "memory",
            MEMORY,
            Trial(Ours(design), load),
            None,
            Goal(1024),
            MEMORY_BLOCKS,
        )
        for design in AT_REST
        for load in (Rest(IDLE, asks=False), Rest(IDLE, asks=True))
    ]


def comparisons() -> list[Row]:
    """Every row, in the order of the tables."""
    return [
        *keep_alive_rows(FEW),
        *keep_alive_rows(MANY),
        *store_rows(),
        *short_rows(),
        *scan_rows(),
        *client_rows(),
        *idle_rows(),
        *memory_rows(),
    ]


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
    """Why a server of ours, or a loop that stands for a design, cannot run here.

    None: it can, or is a peer.
    """
    if not isinstance(server, Ours | Bare):
        return None
    design = server.design if isinstance(server, Ours) else server.kind
    if design not in designs:
        return f"this server has no design {design}"
    return designs[design]
