"""Adds to a made-up ledger what each contender holds, as a matched load would have found it."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import numpy as np

from regatta.ledger import cell_row
from regatta.matched.held import replay
from regatta.matched.judge import CLIENT
from regatta.matched.probe import KNEE, SEARCH, Planned
from regatta.matched.run import KNEE_SHARES
from regatta.study import Cell
from tests.lab.synthetic import insert, pack

CAPACITY = {"iterative": 4_000, "thread-per-client": 9_000, "select": 20_000}
BUSY_AT = 30_000
"""A rate that the client cannot go beyond."""


def add_held(path: Path, capacity: Mapping[str, int] = CAPACITY, blocks: int = 4) -> Path:
    """Every contender varies by some per cent from block to block."""
    chance = np.random.default_rng(7)
    with closing(sqlite3.connect(path)) as database, database:
        for number, (name, holds) in enumerate(capacity.items(), start=1):
            cell = Cell(
                name, number, "snapshot", "matched", 16, "epoll", "http", None, 0.5, 0, 2, 9
            )
            row = (number, *cell_row(cell), "[0.5]", 50.0, 1, "netns")
            insert(database, "search", [row])
            for plan, why_not, samples in probes(number, holds, blocks, chance):
                planned = [getattr(plan, field.name) for field in fields(Planned)]
                client = json.dumps({"requests": 1, "unstarted": 0, "client_bound": None})
                row = (None, *planned, why_not, 1.0, None, 0, client, samples)
                insert(database, "probe", [row])
    return path


def probes(
    number: int, holds: int, blocks: int, chance: np.random.Generator
) -> list[tuple[Planned, str | None, bytes | None]]:
    found: list[tuple[Planned, str | None, bytes | None]] = []
    told: dict[int, list[tuple[int, str | None]]] = {}
    for block in range(1, blocks + 1):
        today = holds * chance.normal(1, 0.01)
        while (search := replay(told, block)[-1]) and (rate := search.next_rate()) is not None:
            why_not = None
            if rate > today:
                why_not = "88.0 % of what was due was started"
            elif rate > BUSY_AT:
                why_not = f"{CLIENT}: it used 61 % of its CPU"
            told.setdefault(block, []).append((rate, why_not))
            found.append((Planned(number, SEARCH, block, rate, 0.3), why_not, None))
        if len(replay(told, block)) < block or not search.held:
            return found
    for block in range(1, blocks + 1):
        for share in KNEE_SHARES:
            plan = Planned(number, KNEE, block, round(share * holds), 0.5, share)
            waits = chance.exponential(1e6 * (0.1 + share**8), 400).astype(np.int64)
            found.append((plan, None, pack(waits, 16)))
    return found
