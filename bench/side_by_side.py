"""Two servers, measured in turn by the trials that a race is made of, and the ratio of their costs.

A block is one trial of each, in random order; the ratio is taken within blocks, so that what
drifts on the machine drifts for both.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from regatta.analysis.bootstrap import studentized
from regatta.errors import RegattaError
from regatta.plan import TIMED
from regatta.study import Cell
from regatta.trial import OK, Rig, run_trial


@dataclass(frozen=True)
class Comparison:
    """Ours against a peer under one load. `goal` is the highest ratio ours / peer that meets it."""

    name: str
    ours: Path
    peer: Path
    cell: Cell
    goal: float


@dataclass(frozen=True)
class Outcome:
    """Server CPU per request, medians in microseconds, and the ratio with its 95 % interval."""

    comparison: Comparison
    ours_us: float
    peer_us: float
    ratio: float
    low: float
    high: float
    blocks: int

    @property
    def is_met(self) -> bool:
        return self.ratio <= self.comparison.goal


def cpu_us(rig: Rig, server: Path, cell: Cell) -> float:
    """Server CPU per request of one trial with a fresh server, by the kernel's accounting."""
    result = run_trial(replace(rig, programs=replace(rig.programs, server=server)), cell, TIMED)
    cost = result.cpu_us_per_request()
    if result.status != OK or cost is None:
        raise RegattaError(f"{server.name}: {result.reason or 'its CPU time was not counted'}")
    return cost


def compare(
    rig: Rig, comparison: Comparison, blocks: int, order: random.Random, tell: Callable[[], None]
) -> Outcome:
    """Runs the blocks; `tell` is called after each."""
    costs: dict[Path, list[float]] = {comparison.ours: [], comparison.peer: []}
    for _ in range(blocks):
        for server in order.sample(list(costs), 2):
            costs[server].append(cpu_us(rig, server, comparison.cell))
        tell()
    ours, peer = np.array(costs[comparison.ours]), np.array(costs[comparison.peer])
    # The mean of the logarithms: a ratio and its inverse then say the same.
    logs = studentized(np.log(ours / peer))
    interval = logs.interval()
    low, high = interval if interval is not None else (-np.inf, np.inf)
    return Outcome(
        comparison,
        ours_us=float(np.median(ours)),
        peer_us=float(np.median(peer)),
        ratio=float(np.exp(logs.mean)),
        low=float(np.exp(low)),
        high=float(np.exp(high)),
        blocks=blocks,
    )
