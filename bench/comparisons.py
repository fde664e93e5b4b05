"""The rows of the tables, and their goals.

If the peer of a row is a server, both servers have one CPU and answer the same bytes. Unless the
row names another, the client is wrk with one thread.
"""

from collections.abc import Sequence
from dataclasses import replace

from bench.http_clients import H2load, Oha
from bench.idle_connections import FOOTPRINT, MEMORY, Footprint, RestingConnections
from bench.loads import (
    BEYOND,
    CLIENT_CPU,
    LATE,
    SERVER_CPU,
    THROUGHPUT,
    BeyondSnapshot,
    GetClient,
    HalfOpen,
    RedisBenchmark,
    Wrk,
    burst,
    closed,
    newcomers,
    staying,
)
from bench.pauses import CLIENTS, P90, P99, PausedServer
from bench.readings import LIBPROC2, OPEN_READ_CLOSE, PER_PROCESS, ReaderTrial
from bench.readings import ours as reader
from bench.rows import Best, Row, ServerTrial, Target, Turns
from bench.servers import Load, Memcached, Nginx, Ours, Redis, Twin
from bench.sleepers import NO_SLEEPERS, Sleepers

FIRST = "iterative"
# Candidates for the best design on one CPU; a screening chooses.
CANDIDATES = ("epoll", "epoll-edge", "reactors", "uring", "uring-reactors")
SCANNED = ("iterative", "thread-per-client", "select")
AT_REST = ("poll", "epoll", "epoll-edge", "reactors", "uring")

# Longer with many connections, as connecting is part of every load.
FEW, MANY = Wrk(50), Wrk(1_000, seconds=2)
SHORT = Wrk(100, closing=True)
BUSY = Wrk(100)
IDLE = 10_000
# All that select can watch, minus the busy ones and a few other descriptors.
SELECT_IDLE = 850
# Rates that every design and its twin can sustain; a new process costs ten times as much.
EASY_RATE, EASY_FOR_PROCESSES = 2_000, 500
POOL = 16
# All twins together take ten minutes.
TWIN_BLOCKS, TURNS, SLICE_S = 12, 2, 0.25
# Memory hardly varies, and ten thousand connections take seconds to make.
MEMORY_BLOCKS = 3
# Twenty thousand processes take seconds to start and to end, and a server must scan them first.
PROCESS_BLOCKS, FOOTPRINT_BLOCKS = 3, 2
# Five seconds each, and known to a percent.
PAUSE_BLOCKS = 4


def best(screened_under: Load, load: Load, deferred: bool = False) -> Best:
    servers = tuple(Ours(design, deferred=deferred) for design in CANDIDATES)
    return Best(servers, screened_under, load)


def cost(
    name: str, group: str, ours: ServerTrial | Best, peer: ServerTrial, goal: float | None
) -> Row:
    """A row about the server's CPU time; a row without a goal explains another."""
    return Row(name, group, SERVER_CPU, ours, peer, None if goal is None else Target(goal))


def keep_alive_rows(load: Wrk) -> list[Row]:
    """Also compares the bare loops with nginx: they are the lower bound for epoll and io_uring."""
    epoll, uring = ServerTrial(Ours("epoll"), load), ServerTrial(Ours("uring"), load)
    bare_epoll, bare_uring = ServerTrial(Twin("epoll"), load), ServerTrial(Twin("uring"), load)
    nginx, name = ServerTrial(Nginx(), load), load.name
    return [
        cost(f"epoll / bare epoll loop, {name}", name, epoll, bare_epoll, 1.05),
        cost(f"uring / epoll, {name}", name, uring, epoll, 1.0),
        cost(f"best design / nginx, {name}", name, best(FEW, load), nginx, 0.8),
        cost(f"bare epoll loop / nginx, {name}", name, bare_epoll, nginx, None),
        cost(f"bare uring loop / nginx, {name}", name, bare_uring, nginx, None),
    ]


def store_rows() -> list[Row]:
    """Each server with its usual client, and both with the same minimal client."""
    lean, group = GetClient(FEW.connections), FEW.name
    redis = ServerTrial(Redis(), RedisBenchmark(FEW.connections))
    own_clients = f"best design by wrk / redis-server by {redis.load.name}"
    rows = [cost(own_clients, group, best(FEW, FEW), redis, 1.0)]
    for peer in (Redis(), Memcached()):
        name = f"best design / {peer.name}, both by {lean.name}"
        rows.append(cost(name, group, best(FEW, lean), ServerTrial(peer, lean), 1.0))
    return rows


def short_rows() -> list[Row]:
    """Both servers by default, and both as an expert would configure them: with deferred accept."""
    rows = []
    for deferred in (False, True):
        word = "with" if deferred else "without"
        name = f"best design / nginx, {word} deferred accept, {SHORT.name}"
        peer = ServerTrial(Nginx(deferred), SHORT)
        rows.append(cost(name, SHORT.name, best(SHORT, SHORT, deferred), peer, 0.9))
    return rows


def scan_rows() -> list[Row]:
    """The peer is the same server with the reports' scan."""
    rows = []
    for design in SCANNED:
        ours, peer = (ServerTrial(Ours(design, work), burst(100)) for work in ("scan", "classic"))
        name = f"scan / the reports' scan, {design}"
        rows.append(cost(name, f"scan, {design}", ours, peer, 0.8))
    return rows


def beyond_snapshot_rows(designs: Sequence[str]) -> list[Row]:
    """The work should cost the same under every design."""
    load = BeyondSnapshot()
    same = Target(1.05, down_to=0.95)

    def row(name: str, design: str, peer: ServerTrial | None, goal: Target | None) -> Row:
        ours = ServerTrial(Ours(design, work="classic"), load)
        return Row(f"classic beyond snapshot, {name}", "classic", BEYOND, ours, peer, goal)

    first = ServerTrial(Ours(FIRST, work="classic"), load)
    others = [design for design in designs if design != FIRST]
    return [
        row(FIRST, FIRST, None, None),
        *(row(f"{design} / {FIRST}", design, first, same) for design in others),
    ]


def client_rows() -> list[Row]:
    """All clients drive the same server; `epoll / bare epoll loop` shares two of these trials."""
    count = FEW.connections
    ours, wrk = ServerTrial(Ours("epoll"), closed(count)), ServerTrial(Ours("epoll"), FEW)
    half = ServerTrial(Ours("epoll"), HalfOpen(count))
    h2load, oha = (ServerTrial(Ours("epoll"), load) for load in (H2load(count), Oha(count)))
    fast = Target(1.0, at_least=True)
    rows = [Row(half.load.name, FEW.name, LATE, half, None, Target(100))]
    for other, peer in (("wrk", wrk), ("h2load", h2load), ("oha", oha)):
        name = f"regatta-client / {other}, {FEW.name}"
        rows.append(Row(name, FEW.name, CLIENT_CPU, ours, peer, Target(1.0)))
        rows.append(Row(f"{name}, throughput", FEW.name, THROUGHPUT, ours, peer, fast))
    return rows + [pause_row(client, of) for of in (P90, P99) for client in CLIENTS]


def pause_row(client: str, metric: str) -> Row:
    """Whether the client's percentile is right; the p99 of ours has a goal. To catch up after a
    pause takes time too, which shows in the p90."""
    load = PausedServer(client)
    goal = Target(1.05, down_to=0.95) if (client, metric) == ("regatta-client", P99) else None
    trial = ServerTrial(Ours("epoll"), load)
    name = f"{metric.split()[1]} by {load.name}, / true"
    return Row(name, "pauses", metric, trial, None, goal, PAUSE_BLOCKS)


def idle_rows() -> list[Row]:
    """How much idle connections reduce the throughput of busy ones."""

    def row(design: str, idle: int, goal: Target | None) -> Row:
        without = ServerTrial(Ours(design), BUSY)
        with_idle = ServerTrial(Ours(design), replace(BUSY, idle=idle))
        name = f"{design}, {with_idle.load.name} / without"
        return Row(name, f"{design} beside idle", THROUGHPUT, with_idle, without, goal)

    most = Target(0.9, at_least=True)
    return [
        row("epoll", IDLE, most),
        row("uring", IDLE, most),
        row("select", SELECT_IDLE, None),
        row("poll", IDLE, None),
    ]


def memory_rows() -> list[Row]:
    def row(design: str, load: RestingConnections) -> Row:
        ours = ServerTrial(Ours(design), load)
        name = f"{design}, {load.name}"
        return Row(name, "memory", MEMORY, ours, None, Target(1024), MEMORY_BLOCKS)

    loads = [RestingConnections(IDLE, asks) for asks in (False, True)]
    return [row(design, load) for design in AT_REST for load in loads]


def read(
    name: str, ours: ReaderTrial, peer: ReaderTrial | None, goal: float, blocks: int | None = None
) -> Row:
    """Rows with the same sleepers share a group, so that these start once per block."""
    among = f"sources: {name}, {ours.sleepers.name}"
    return Row(
        among, f"sources, {ours.sleepers.name}", PER_PROCESS, ours, peer, Target(goal), blocks
    )


def source_rows() -> list[Row]:
    """What a snapshot costs from each source, compared with other ways to read it."""
    some, more, many = Sleepers(1_000), Sleepers(5_000), Sleepers(20_000)
    threads = Sleepers(100, 999)

    def bpf(sleepers: Sleepers) -> ReaderTrial:
        return ReaderTrial(reader("bpf"), sleepers)

    def procfs(sleepers: Sleepers) -> ReaderTrial:
        return ReaderTrial(reader("procfs"), sleepers)

    simple, auto = ReaderTrial(OPEN_READ_CLOSE, some), ReaderTrial(reader("auto"), threads)
    return [
        read("bpf", bpf(some), None, 0.35),
        read("bpf", bpf(more), None, 0.35, PROCESS_BLOCKS),
        read("bpf", bpf(many), None, 0.35, PROCESS_BLOCKS),
        read("bpf / libproc2", bpf(NO_SLEEPERS), ReaderTrial(LIBPROC2, NO_SLEEPERS), 1 / 20),
        read("bpf / libproc2", bpf(some), ReaderTrial(LIBPROC2, some), 1 / 50),
        read("procfs", procfs(some), None, 5),
        read("procfs / open, read, close", procfs(some), simple, 0.4),
        read("procfs / libproc2", procfs(some), ReaderTrial(LIBPROC2, some), 1 / 3),
        read("auto / procfs", auto, procfs(threads), 1, PROCESS_BLOCKS),
    ]


def answer_rows() -> list[Row]:
    """A fresh reading for each request of 100 connections, against the reports' way to make one."""
    load = closed(100)

    def row(sleepers: Sleepers, goal: float) -> Row:
        ours = ServerTrial(Ours("epoll", work="scan", source="auto"), load, sleepers)
        peer = ServerTrial(Ours("epoll", work="classic"), load, sleepers)
        name = f"answers: work scan / the reports' way, {load.name}, {sleepers.name}"
        return cost(name, f"answers, {sleepers.name}", ours, peer, goal)

    return [row(NO_SLEEPERS, 1 / 15), row(Sleepers(1_000), 1 / 40)]


def footprint_rows() -> list[Row]:
    """Memory of a server that has scanned ten thousand more processes."""
    sleepers = Sleepers(10_000)

    def row(source: str, design: str) -> Row:
        server = Ours(design, work="scan", source=source, recorder=True)
        ours = ServerTrial(server, Footprint(), sleepers)
        name, group = f"footprint: {server.name}, {sleepers.name}", f"footprint, {sleepers.name}"
        return Row(name, group, FOOTPRINT, ours, None, Target(4096), FOOTPRINT_BLOCKS)

    return [
        row(source, design)
        for source in ("auto", "procfs")
        for design in ("epoll", "prefork-accept")
    ]


def twin_loads(design: str) -> tuple[Load, Load]:
    """Keep-alive connections, as many as a pool can serve at once; and short connections."""
    connections = 1 if design == FIRST else POOL
    rate = EASY_FOR_PROCESSES if design == "fork-per-client" else EASY_RATE
    return staying(connections, SLICE_S), newcomers(rate, SLICE_S, connections)


def by_turns(
    group: str, ours: Sequence[Ours], twin: Twin, loads: Sequence[Load], goal: Target | None
) -> list[Row]:
    """Compares a design with its twin, in turns."""
    turns = Turns((*ours, twin), tuple(loads), TURNS)

    def row(server: Ours, load: Load) -> Row:
        sides = ServerTrial(server, load), ServerTrial(twin, load)
        name = f"twins: {server.name}, {load.name}"
        return Row(name, f"twins, {group}", SERVER_CPU, *sides, goal, TWIN_BLOCKS, turns)

    return [row(server, load) for server in ours for load in loads]


def twin_rows(designs: Sequence[str]) -> list[Row]:
    """Every design and its twin; fork-per-client also with the source bpf, which adds mappings."""
    rows = []
    for design in designs:
        ours = [Ours(design)]
        if design == "fork-per-client":
            ours.append(Ours(design, source="auto"))
        rows += by_turns(design, ours, Twin(design), twin_loads(design), Target(1.1))
    return rows


def default_rows() -> list[Row]:
    """What sandbox, recorder and source add to a short connection; without a goal."""
    rows = []
    for design in ("fork-per-client", "thread-per-client"):
        ours = [Ours(design, by_default=True)]
        short = twin_loads(design)[1:]
        rows += by_turns(f"{design} by default", ours, Twin(design), short, None)
    return rows


def comparisons(designs: Sequence[str]) -> list[Row]:
    """All rows in table order; `designs`: all designs of the server."""
    return [
        *keep_alive_rows(FEW),
        *keep_alive_rows(MANY),
        *store_rows(),
        *short_rows(),
        *scan_rows(),
        *beyond_snapshot_rows(designs),
        *client_rows(),
        *twin_rows(designs),
        *default_rows(),
        *idle_rows(),
        *memory_rows(),
        *source_rows(),
        *answer_rows(),
        *footprint_rows(),
    ]
