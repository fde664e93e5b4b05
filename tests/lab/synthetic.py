"""Makes realistic ledgers without running a race, written as the lab writes them."""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from regatta.judge.statistics.sign_flips import BlockValues
from regatta.record.cell import PROCESS, Cell
from regatta.record.counters import Counter, Counters, counted, keyed, not_supported
from regatta.record.files import Start, write_start
from regatta.record.inputs import RaceInputs
from regatta.record.recordings import STAGES, Requests, Slow, pack_requests, pack_stacks
from regatta.record.records import PlannedTrial, Sitting, Trial
from regatta.record.samples import HEADER, MAGIC, RECORD_SIZE, SAMPLE
from regatta.record.write import Ledger

CLIENT_BOUND = "used 93 % of its CPU"
HELD_UP = "started only 71.0 % of the offered rate because it was late itself"
DISTURBED = "other programs used 19 % of a CPU"
CPU_US = {"iterative": 640.0, "thread-per-client": 720.0, "select": 612.0}
SWITCHES = {"iterative": 0.02, "thread-per-client": 1.05, "select": 0.03}
FAULTS = {"iterative": 0.01, "thread-per-client": 4.1, "select": 0.01}
HARDWARE = (
    "cycles",
    "instructions",
    "branches",
    "branch-misses",
    "cache-references",
    "cache-misses",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
)
TOPDOWN = {
    "tma_retiring": 24.0,
    "tma_bad_speculation": 3.0,
    "tma_frontend_bound": 23.0,
    "tma_backend_bound": 50.0,
}
BUSY = 1.08
TOLD = 4711
"""All replies name the same processes."""
START_NS, START_FAULTS = 1.2e6, 130
"""What a process uses to start and to exit."""
COUNTS = ("context-switches", "cpu-migrations", "page-faults", "syscalls")


@dataclass
class SyntheticRace:
    """Describes the ledger to make."""

    contenders: Sequence[str] = ("iterative", "thread-per-client", "select")
    connections: Sequence[int] = (1, 10, 100)
    engines: Sequence[str] = ("epoll",)
    scopes: Sequence[str] = ("window",)
    blocks: int = 10
    """Per sitting."""
    counted_blocks: int = 2
    spent_us: dict[str, dict[str, float]] = field(default_factory=dict)
    """By contender, µs per request by stack, as `sampled_blocks` have it."""
    sampled_blocks: int = 0
    """Of one sitting only."""
    waits_us: dict[str, dict[str, float]] = field(default_factory=dict)
    """By contender, µs of a request by stage, as a traced block has it; then there is one."""
    sittings: int = 1
    sitting_noise: float = 0.0
    """Standard deviation of a contender's mean between sittings, relative."""
    requests: int = 200
    hardware: bool = False
    perf: bool = True
    noise: float = 0.015
    cpu_us: dict[str, float] = field(default_factory=lambda: dict(CPU_US))
    cpu_at: dict[tuple[str, int], float] = field(default_factory=dict)
    """The same by contender and connections; overrides `cpu_us`."""
    busy: dict[str, float] = field(default_factory=dict)
    """Busy time of the CPUs relative to charged time, by contender."""
    fail: set[tuple[str, int, int]] = field(default_factory=set)
    """Contender, connections, block."""
    client_bound: set[tuple[str, int, int]] = field(default_factory=set)
    """The same."""
    disturbed: set[tuple[str, int, int]] = field(default_factory=set)
    """The same; disturbed and kept."""
    held_up: set[tuple[str, int, int]] = field(default_factory=set)
    """The same; disturbed so that the client fell behind."""
    pools: set[str] = field(default_factory=set)
    """Contenders with a pool, if the axis is the number of workers."""
    axis: str = "connections"
    steps: Sequence[int] = ()
    """Steps of an axis other than connections."""
    environment: dict[str, Any] = field(default_factory=dict)
    inputs: RaceInputs = RaceInputs()
    study: str = ""
    """More lines of its TOML."""
    fail_reason: str = "the server did not exit within 10 s of SIGTERM"
    title: str = "Three designs, with real work"
    works: Sequence[str] = ("classic",)
    seed: int = 1

    def sitting_of(self, block: int) -> int:
        return min(self.sittings, (block - 1) // (self.blocks + self.counted_blocks) + 1)

    def kind_of(self, block: int) -> str:
        if block > (unsampled := self.sittings * (self.blocks + self.counted_blocks)):
            return "traced" if block > unsampled + self.sampled_blocks else "sampled"
        return "timed" if (block - 1) % (unsampled // self.sittings) < self.blocks else "counted"


@dataclass(frozen=True)
class Entry:
    """A contender at one step, as standings rank it."""

    cpu: BlockValues
    barred: str = ""
    busy: BlockValues = field(default_factory=dict)


def make(path: Path, race: SyntheticRace | None = None, **changes: Any) -> Path:
    """Writes the ledger and returns its path."""
    race = replace(race or SyntheticRace(), **changes)
    cells = make_cells(race)
    made = list(make_trials(race, cells))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA synchronous = OFF")  # it need not survive a crash
        planned = [plan for plan, _ in made]
        write_start(database, Start(meta(race), race.inputs, cells, planned, "netns"))
        ledger = Ledger(path, database)
        ledger.record_environment(environment(race))
        for number in range(1, race.sittings + 1):
            where = (f"boot-{number}", "Example CPU 9000 at 3.2 GHz", "6.18.0")
            began = 1_760_000_000.0 + number * 3600
            ledger.record_sitting(Sitting(number, began, *where, 1000 + number, 100 * number))
        ledger.record([trial for _, trial in made])
    return path


def make_cells(race: SyntheticRace) -> list[Cell]:
    """One cell for every scope, work, engine, connections, step and contender."""
    found: list[Cell] = []
    steps = race.steps or [0]
    crossed = product(race.scopes, race.works, race.engines, race.connections, steps)
    for scope, work, engine, connections, step in crossed:
        for order, contender in enumerate(race.contenders):
            cell = Cell(
                contender=contender,
                contender_order=order,
                work=work,
                load="burst",
                connections=connections,
                engine=engine,
                dialect="line",
                rounds=1 if scope == "process" else -(-race.requests // connections),
                duration_s=None,
                per_connection=None,
                top=2,
                max_age_ms=100,
                scope=scope,
            )
            if race.axis != "connections":
                poolless = race.axis == "workers" and contender not in race.pools
                cell = replace(cell, **{race.axis: None if poolless else step})
            if cell not in found:
                found.append(cell)
    return found


def make_workers(cell: Cell, requests: int) -> list[dict[str, int]]:
    """The first worker gets twice the share of the others."""
    count = cell.workers or 1
    share = requests // (count + 1)
    rest = requests - share * (count - 1)
    return [
        {"connections": share if at else rest, "requests": share if at else rest}
        for at in range(count)
    ]


def make_trials(race: SyntheticRace, cells: list[Cell]) -> Iterator[tuple[PlannedTrial, Trial]]:
    """In blocks, in random order."""
    generator = np.random.default_rng(race.seed)
    of_sitting = {
        (cell, number): generator.normal(1, race.sitting_noise) if race.sitting_noise else 1.0
        for number in range(1, race.sittings + 1)
        for cell in range(len(cells))
    }
    unsampled = race.sittings * (race.blocks + race.counted_blocks)
    for block in range(1, unsampled + race.sampled_blocks + bool(race.waits_us) + 1):
        kind = race.kind_of(block)
        drift = generator.normal(1, 0.02)
        for position, index in enumerate(generator.permutation(len(cells)), start=1):
            sitting = race.sitting_of(block)
            planned = PlannedTrial(block, position, int(index) + 1, kind, sitting)
            apart = of_sitting[int(index), sitting]
            yield planned, make_trial(race, generator, planned, cells[index], drift * apart)


def make_trial(
    race: SyntheticRace,
    generator: np.random.Generator,
    planned: PlannedTrial,
    cell: Cell,
    drift: float,
) -> Trial:
    block, contender, connections = planned.block, cell.contender, cell.connections
    place = (contender, getattr(cell, race.axis), block)
    failed, held_up = place in race.fail, place in race.held_up
    bound = HELD_UP if held_up else CLIENT_BOUND if place in race.client_bound else None
    requests = connections * (cell.rounds or 1)
    known = race.cpu_at.get((contender, connections), race.cpu_us.get(contender, 650.0))
    base = known * drift * generator.normal(1, race.noise)
    cpu_us = base + 40 / np.sqrt(connections) + (60 if planned.kind == "counted" else 0)
    latencies = make_latencies(generator, contender, connections, requests, cpu_us)
    window_ns = int(requests * cpu_us * 1e3 * 1.05 + 4e6)
    counters: Counters = {}
    for side, share in (("server", 1.0), ("client", 0.1)):
        start_ns = START_NS * generator.normal(1, race.noise) if cell.scope == PROCESS else 0.0
        used_ns = start_ns + requests * cpu_us * 1e3 * share
        for origin, counts in make_counters(race, generator, planned, cell, requests, used_ns):
            counters |= keyed(side, origin, counts)
        if side == "server":
            peak = counted("peak-memory", peak_bytes(contender), "bytes")
            counters |= keyed(side, "kernel", [peak])
    stacks = None
    if planned.kind == "sampled":
        spent = race.spent_us.get(contender, {})
        noise = generator.normal(1, race.noise, len(spent))
        stacks = pack_stacks(
            {
                stack: round(us * 1e3 * requests * float(times))
                for (stack, us), times in zip(spent.items(), noise, strict=True)
            }
        )
    traced = None
    if planned.kind == "traced":
        traced = make_traced(generator, race.waits_us.get(contender, {}), requests)
    return Trial(
        **vars(planned),
        status="failed" if failed else "ok",
        reason=race.fail_reason if failed else None,
        client_bound=bound,
        started_at=1_760_000_000.0 + block * 60,
        window_ns=window_ns,
        requests=requests,
        answered=requests - 3 if failed else requests,
        throughput_per_s=requests / (window_ns / 1e9),
        server={"design": contender, "workers": make_workers(cell, requests)},
        client={"connections": connections, "elapsed_ns": window_ns // 2},
        conditions={"load_average": [0.2, 0.2, 0.1]}
        | ({"client_held_up": DISTURBED if held_up else None} if bound else {}),
        samples=pack(latencies, connections),
        stacks=stacks,
        traced=traced,
        disturbed=DISTURBED if held_up or place in race.disturbed else None,
        counters=counters,
    )


def make_traced(generator: np.random.Generator, us: dict[str, float], requests: int) -> bytes:
    """Requests that wait so long on average, each stage at random."""
    means = [1e3 * us.get(stage, 0.0) for stage in STAGES]
    spent = generator.exponential(means, (requests, len(STAGES))).round().astype(int).tolist()
    ends = np.cumsum(longest := max(spent, key=sum)).tolist()
    spans = [of for of in zip(STAGES, [0, *ends[:-1]], longest, strict=True) if of[2]]
    tasks = {"server 20": [("running", 0, ends[-1])], "cron 30": [("running", 10, ends[-1] - 10)]}
    return pack_requests(Requests(len(spent), spent, [Slow(spans, tasks, ["server 20"])]))


def make_latencies(
    generator: np.random.Generator, contender: str, connections: int, requests: int, cpu_us: float
) -> np.ndarray:
    """A burst is served in order, so the last waits for all; threads share the CPU."""
    rank = np.tile(np.arange(1, connections + 1), requests // connections)
    if contender == "thread-per-client":
        rank = connections - (connections - rank) * 0.4
    return (rank * cpu_us * 1e3 * generator.lognormal(0, 0.08, requests)).astype(np.int64) + 60_000


def pack(latencies: np.ndarray, connections: int) -> bytes:
    at = np.arange(len(latencies))
    records = np.zeros(len(latencies), SAMPLE)
    records["start_ns"] = 10**9 + at
    records["end_ns"] = records["start_ns"] + latencies.astype(np.int64)
    records["first_byte_ns"] = records["end_ns"] - 5
    records["connection"], records["told"] = at % connections, TOLD
    return packed(records)


def packed(records: np.ndarray) -> bytes:
    """As in a ledger."""
    head = HEADER.pack(MAGIC, RECORD_SIZE, 0, len(records), 0)
    return zlib.compress(head + records.tobytes())


def peak_bytes(contender: str) -> int:
    """A process has 2 MiB, and more with threads."""
    return (5 if contender == "thread-per-client" else 2) * 2**20


def make_counters(  # noqa: PLR0913, PLR0917  (what made-up counters follow from)
    race: SyntheticRace,
    generator: np.random.Generator,
    planned: PlannedTrial,
    cell: Cell,
    requests: int,
    cpu_ns: float,
) -> Iterator[tuple[str, list[Counter]]]:
    """By origin."""
    contender, whole = cell.contender, cell.scope == PROCESS
    switches = requests * SWITCHES.get(contender, 0.1) + generator.poisson(3)
    start_faults = START_FAULTS if whole else 2
    faults = requests * FAULTS.get(contender, 0.1) + generator.poisson(start_faults)
    by_kernel = [
        counted("cpu-time", cpu_ns, "ns"),
        counted("user-time", cpu_ns * 0.2 // 1e7 * 1e7, "ns"),
        counted("system-time", cpu_ns * 0.8 // 1e7 * 1e7, "ns"),
        counted("page-faults", float(faults), "count"),
    ]
    is_known = contender != "thread-per-client"
    by_kernel.append(counted_if(is_known, "context-switches", float(switches), "count"))
    yield "kernel", by_kernel
    if not whole:
        # Not random, so that it does not change the other random values.
        swing = 1 + race.noise * (planned.block * 7 % 5 - 2) / 20
        busy_ns = cpu_ns * race.busy.get(contender, BUSY) * swing
        yield "cpus", [counted("busy-time", busy_ns, "ns"), counted("steal-time", 0.0, "ns")]
    if not race.perf or (planned.kind != "counted" and not whole):
        return
    values = dict(
        zip(COUNTS, (switches, generator.poisson(1), faults, requests * 231), strict=True)
    )
    by_perf = [counted(clock, cpu_ns * 0.97, "ns") for clock in ("task-clock", "cpu-clock")]
    by_perf += [counted(event, float(value), "count") for event, value in values.items()]
    for place, event in enumerate(HARDWARE):
        by_perf.append(counted_if(race.hardware, event, cpu_ns * 3 / (1 + place), "count"))
    for event, percent in TOPDOWN.items():
        share = percent + (generator.normal(0, 0.4) if race.hardware else 0.0)
        by_perf.append(counted_if(race.hardware, event, share, "%"))
    yield "perf", by_perf


def counted_if(is_known: bool, event: str, value: float, unit: str) -> Counter:
    return counted(event, value, unit) if is_known else not_supported(event, unit)


def meta(race: SyntheticRace) -> dict[str, str]:
    return {
        "regatta_version": "0.1.0",
        "study_name": "quick",
        "study_toml": (
            f'name = "quick"\ntitle = {json.dumps(race.title, ensure_ascii=False)}\n{race.study}'
        ),
        "seed": "4711",
        "sittings": str(race.sittings),
        "use_perf": "yes" if race.perf else "no",
        "disturbance_limit_percent": "10",
        "created_at": "1760000000.000",
        "finished_at": "1760000060.000",
    }


def environment(race: SyntheticRace) -> dict[str, Any]:
    return race.environment | {
        "cpu_model": "Example CPU 9000 at 3.2 GHz",
        "cpus": 2,
        "cpus_allowed": [0, 1],
        "smt": "notsupported",
        "governor": None,
        "turbo": None,
        "mitigations": {
            "meltdown": "Not affected",
            "spectre_v2": "Mitigation: Retpolines; IBPB: conditional; STIBP: disabled",
        },
        "kernel": "6.18.0",
        "architecture": "x86_64",
        "distribution": "Debian GNU/Linux 12 (bookworm)",
        "memory_bytes": 8 * 2**30,
        "load_average": [0.2, 0.2, 0.1],
        "placement": {
            "kind": "netns",
            "rootless": False,
            "note": None,
            "server_address": "10.77.0.1",
            "server_cpus": [0],
            "client_cpus": [1],
            "steering": "own-side",
        },
        "perf_version": "perf version 6.1.0" if race.perf else None,
        "perf_note": None if race.perf else "perf is not installed",
        "versions": {"regatta": "0.1.0", "server": "0.1.0", "client": "0.1.0", "python": "3.11.2"},
        "designs": {
            "iterative": "one process, one client at a time",
            "thread-per-client": "a new thread for each connection",
            "select": "one event loop on select",
        },
    }
