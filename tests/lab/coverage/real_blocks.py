"""The figures of the blocks of a real race, from which races are drawn."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regatta.judge.contrast import by_block
from regatta.judge.statistics.percentiles import RequestLatencies, latencies_of
from regatta.record.metrics import STANDINGS, Metric, side_of
from regatta.record.read import read
from regatta.record.records import TIMED, Trial

Floats = NDArray[np.float64]
DISTINCT = 0.5
"""Least share of distinct values; a figure with fewer cannot test intervals."""


@dataclass(frozen=True)
class RealBlocks:
    figures: dict[str, dict[str, Floats]]
    """By metric and contender, one value a block, in the order of the race."""
    waits: dict[str, list[RequestLatencies]]
    """By contender, one a block."""


def read_real_blocks(ledger: Path) -> RealBlocks:
    """Reads the blocks in which every contender has a usable trial."""
    raced = read(ledger)
    timed = {
        cell.contender: {
            trial.block: trial
            for trial in raced.trials_of(cell)
            if trial.kind == TIMED and trial.counts
        }
        for cell in raced.cells
    }
    blocks = sorted(set.intersection(*map(set, timed.values())))
    trials = {name: [timed[name][block] for block in blocks] for name in sorted(timed)}
    return RealBlocks(
        {metric.name: _figures(metric, trials) for metric in STANDINGS},
        {name: [latencies_of(trial) for trial in of_name] for name, of_name in trials.items()},
    )


def _figures(metric: Metric, trials: dict[str, list[Trial]]) -> dict[str, Floats]:
    """Empty unless every contender has a figure in every block."""
    found: dict[str, Floats] = {}
    for name, of_name in trials.items():
        by_number = by_block(metric, side_of(metric), of_name)
        if isinstance(by_number, str) or len(by_number) < len(of_name):
            return {}
        found[name] = np.array([by_number[block] for block in sorted(by_number)])
        if len(np.unique(found[name])) < DISTINCT * len(of_name):
            return {}
    return found
