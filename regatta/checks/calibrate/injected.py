"""Errors that a calibration injects, to show that the A/A test detects them.

Biases of the lab change the server's CPU time of one of two equals in the trials as read; the
ledger stays as it is. A bias lasts for a whole race or several blocks, so that no comparison within
the race can distinguish it from a difference of the servers. Errors of the analysis compare the
raced copies by a wrong test, with Bonferroni's correction for the number of pairs.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from regatta.checks.calibrate.copies import pairs_of
from regatta.judge.contrast import by_block, paired
from regatta.judge.statistics.percentile_comparison import FEWEST_BLOCKS
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.record.counters import COUNTERS, NS, parse_event_name
from regatta.record.metrics import STANDINGS, Metric, side_of
from regatta.record.records import SERVER, RaceRecord, Trial

SEED = 2009
PLACED = 0.02
"""How much more the first of two in the study costs, with `place`."""
DRIFT, PERSISTENCE = 0.03, 0.9
"""How far two equals drift apart, and how much carries over to the next block."""
CPU_EVENTS = frozenset(one.name for one in COUNTERS if one.unit == NS)
FIRST_TEST = 3

Factors = Callable[[np.random.Generator, int], tuple[list[float], list[float]]]
"""From the number of blocks: factors of CPU time in each, for the first and the second."""
PValue = Callable[[Metric, list[Trial], list[Trial]], float | None]
"""From the trials of two contenders; None if they cannot be compared."""


def biased(share: float) -> Factors:
    """One of two equals costs more or less, by a factor drawn for each race."""

    def factors(chance: np.random.Generator, blocks: int) -> tuple[list[float], list[float]]:
        return [1.0] * blocks, [math.exp(chance.normal(0, share))] * blocks

    return factors


def placed(_: np.random.Generator, blocks: int) -> tuple[list[float], list[float]]:
    return [1 + PLACED] * blocks, [1.0] * blocks


def drifting(chance: np.random.Generator, blocks: int) -> tuple[list[float], list[float]]:
    """The difference of two equals persists from block to block."""
    found, now = [], chance.normal(0, DRIFT)
    for _ in range(blocks):
        found.append(math.exp(now))
        now = PERSISTENCE * now + chance.normal(0, DRIFT * math.sqrt(1 - PERSISTENCE**2))
    return [1.0] * blocks, found


BIASES: Mapping[str, Factors] = {
    "bias=2%": biased(0.02),
    "bias=5%": biased(0.05),
    "place=2%": placed,
    "drift": drifting,
}
"""By injected error."""


def inject_bias(name: str, ledger: RaceRecord, number: int) -> RaceRecord:
    """The race as a biased lab would have measured it. `number` seeds the bias."""
    blocks = sorted({trial.block for trial in ledger.trials})
    factor: dict[tuple[str, int], float] = {}
    for at, both in enumerate(pairs_of(ledger).values()):
        chance = np.random.default_rng([SEED, number, at])
        for contender, factors in zip(both, BIASES[name](chance, len(blocks)), strict=True):
            keys = ((contender, block) for block in blocks)
            factor.update(zip(keys, factors, strict=True))
    names = {cell.id: cell.contender for cell in ledger.cells}
    trials = [slowed(trial, factor[names[trial.cell_id], trial.block]) for trial in ledger.trials]
    return replace(ledger, trials=trials)


def slowed(trial: Trial, factor: float) -> Trial:
    counters = dict(trial.counters)
    for key, counter in counters.items():
        is_cpu = key[0] == SERVER and parse_event_name(key[2]).name in CPU_EVENTS
        if is_cpu and counter.value is not None:
            counters[key] = replace(counter, value=counter.value * factor)
    return replace(trial, counters=counters)


def peeking(metric: Metric, first: list[Trial], second: list[Trial]) -> float | None:
    """Tests after every block and stops at the first difference."""
    blocks = sorted({trial.block for trial in first})
    found = [
        paired(
            metric,
            side_of(metric),
            *([one for one in trials if one.block <= last] for trials in (first, second)),
        )
        for last in blocks[FIRST_TEST - 1 :]
    ]
    return min((one.p_value() for one in found if not isinstance(one, str)), default=None)


def by_requests(metric: Metric, first: list[Trial], second: list[Trial]) -> float | None:
    """Treats every request as an independent measurement, with the figure of its trial."""
    mine, theirs = (by_block(metric, side_of(metric), trials) for trials in (first, second))
    if isinstance(mine, str) or isinstance(theirs, str):
        return None
    common = sorted(mine.keys() & theirs.keys())
    if len(common) < FEWEST_BLOCKS:
        return None
    differences = np.array([theirs[block] - mine[block] for block in common])
    requests = sum(trial.answered or 0 for trial in first)
    error = float(differences.std(ddof=1)) / math.sqrt(requests)
    return float(2 * stats.norm.sf(abs(differences.mean()) / error)) if error > 0 else 1.0


WRONG: Mapping[str, PValue] = {"requests": by_requests, "peek": peeking}
"""By injected error."""


def distinguished_by(wrong: PValue, ledger: RaceRecord) -> dict[str, list[str]]:
    """By metric that was measured, the pairs of equals that the wrong test distinguishes."""
    both = [
        (f"pair {number} at {mine.connections:,}", ledger.trials_of(mine), ledger.trials_of(theirs))
        for number, pair in enumerate(pairs_of(ledger).values(), start=1)
        for mine in ledger.cells
        for theirs in ledger.cells
        if (mine.contender, theirs.contender) == pair
        and mine.comparison_key() == theirs.comparison_key()
    ]
    found: dict[str, list[str]] = {}
    for metric in STANDINGS:
        p_values = {pair: wrong(metric, first, second) for pair, first, second in both}
        known = {pair: p_value for pair, p_value in p_values.items() if p_value is not None}
        if known:
            found[metric.name] = [
                pair for pair, p_value in known.items() if p_value * len(known) <= LEVEL
            ]
    return found
