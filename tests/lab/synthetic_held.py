"""Adds held rates to a synthetic ledger, as a matched load would have found them."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import numpy as np

from regatta.measure.race.find_rates import KNEE_SHARES
from regatta.record.cell import MatchedCell
from regatta.record.rate_search import replay
from regatta.record.records import CLOSED, KNEE, SEARCH, PlannedProbe, Probe
from regatta.record.write import Ledger, write_cells
from tests.lab.synthetic import pack

CAPACITY = {"iterative": 4_000, "thread-per-client": 9_000, "select": 20_000}
HALF = 30_000
"""Half of the client's capacity."""
CLOSED_CLIENT = {"throughput_per_s": 50_000.0, "cpu_share": 50_000 / HALF / 2}


def add_held(path: Path, capacity: Mapping[str, int] = CAPACITY, blocks: int = 4) -> Path:
    """Capacities vary by 1 % between blocks."""
    chance = np.random.default_rng(7)
    cells = [matched(number, name) for number, name in enumerate(capacity, start=1)]
    with closing(sqlite3.connect(path)) as database:
        with database:
            write_cells(database, "search", cells, "netns")
        ledger = Ledger(path, database)
        for number, holds in enumerate(capacity.values(), start=1):
            for plan, why_not, samples in probes(number, holds, blocks, chance):
                client = {"requests": 1, "unstarted": 0, "client_bound": None}
                if plan.kind == CLOSED:
                    client |= CLOSED_CLIENT
                ledger.record_probe(Probe(plan, why_not, 1.0, None, client, samples), again=False)
    return path


def matched(number: int, contender: str) -> MatchedCell:
    load = ("snapshot", "matched", 16, "epoll", "http", None, 0.5, 0, 2, 9)
    wanted = {"shares": (0.5,), "p99_limit_ms": 50.0, "knee": True}
    return MatchedCell(contender, number, *load, **wanted)


def probes(
    number: int, holds: int, blocks: int, chance: np.random.Generator
) -> list[tuple[PlannedProbe, str | None, bytes | None]]:
    found: list[tuple[PlannedProbe, str | None, bytes | None]] = []
    outcomes: dict[int, list[tuple[int, str | None]]] = {}
    limits: dict[int, dict[str, float]] = {}
    for block in range(1, blocks + 1):
        today = holds * chance.normal(1, 0.01)
        limits[block] = CLOSED_CLIENT
        found.append((PlannedProbe(number, CLOSED, block, 0, 0.3), None, None))
        while (rate := (search := replay(outcomes, block, limits)[-1]).next_rate()) is not None:
            why_not = "88.0 % of what was due was started" if rate > today else None
            outcomes.setdefault(block, []).append((rate, why_not))
            found.append((PlannedProbe(number, SEARCH, block, rate, 0.3), why_not, None))
        if not search.held:
            return found
    for block in range(1, blocks + 1):
        for share in KNEE_SHARES:
            plan = PlannedProbe(number, KNEE, block, round(share * holds), 0.5, share)
            waits = chance.exponential(1e6 * (0.1 + share**8), 400).astype(np.int64)
            found.append((plan, None, pack(waits, 16)))
    return found
