"""Simulated races of equal copies, or of different contenders."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from regatta.checks.calibrate.injected import DESIGNS, design_of, in_order
from regatta.record.cell import Cell
from regatta.record.counters import counted
from regatta.record.inputs import RaceInputs
from regatta.record.records import RaceRecord, Trial
from tests.lab import fake_records

CPU_US = dict(zip(DESIGNS, (640.0, 150.0, 110.0, 90.0), strict=True))
BLOCKS, REQUESTS, STEPS = 10, 200, (1, 10)
WITHIN = 0.025
"""Standard deviation within a block, which pairing leaves."""
BETWEEN = 0.05
"""Standard deviation of the autocorrelated drift between blocks."""


def raced(number: int) -> RaceRecord:
    """The race of that number, with its own order and noise."""
    return of({name: CPU_US[design_of(name)] for name in in_order(number)}, number)


def of(cpu_us: Mapping[str, float], number: int, within: float = WITHIN) -> RaceRecord:
    """A race of these contenders with these costs a request."""
    chance = np.random.default_rng([4711, number])
    places = [(order, name, step) for order, name in enumerate(cpu_us) for step in STEPS]
    cells = [cell(at, name, order, step) for at, (order, name, step) in enumerate(places, start=1)]
    drift = 0.0
    trials: list[Trial] = []
    for block in range(1, BLOCKS + 1):
        drift = 0.6 * drift + chance.normal(0, BETWEEN)
        for of_cell in cells:
            used_us = cpu_us[of_cell.contender] * np.exp(drift + chance.normal(0, within))
            trials.append(trial(chance, len(trials) + 1, block, of_cell, used_us))
    return RaceRecord({}, {}, RaceInputs(), cells, trials, len(trials), [])


def cell(number: int, contender: str, order: int, connections: int) -> Cell:
    load = ("classic", "burst", connections, "epoll", "line", REQUESTS // connections)
    plain = Cell(contender, order, *load, None, None, top=2, max_age_ms=100)
    return replace(plain, id=number, placement="netns")


def trial(chance: np.random.Generator, number: int, block: int, at: Cell, cpu_us: float) -> Trial:
    counters = {
        ("server", "kernel", "cpu-time"): counted("cpu-time", cpu_us * 1e3 * REQUESTS, "ns"),
        ("server", "kernel", "context-switches"): counted(
            "context-switches", float(chance.poisson(400)), "count"
        ),
        ("server", "kernel", "page-faults"): counted(
            "page-faults", float(chance.poisson(3)), "count"
        ),
    }
    return fake_records.trial(
        counters,
        **{"id": number, "block": block, "cell_id": at.id, "kind": "timed", "scope": "window"},
        **{"requests": REQUESTS, "answered": REQUESTS, "throughput_per_s": 1e6 / cpu_us},
        window_ns=int(cpu_us * 1e3 * REQUESTS),
    )
