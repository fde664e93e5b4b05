"""Injected biases of the lab, which the A/A test must detect.

Each changes the server's CPU time of one of two equals in the trials as read; the ledger stays as
it is. It lasts for a whole race or several blocks, so that no comparison within the race can
distinguish it from a difference of the servers.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from regatta.calibrate.equals.copies import pairs
from regatta.ledger.counters import COUNTERS, NS
from regatta.ledger.event_names import parse_event_name
from regatta.ledger.records import RaceRecord, Trial
from regatta.ledger.result import SERVER

SEED = 2009
PLACED = 0.02
"""How much more the first of two in the study costs, with `place`."""
DRIFT, PERSISTENCE = 0.03, 0.9
"""How far two equals drift apart, and how much carries over to the next block."""
CPU_EVENTS = frozenset(one.name for one in COUNTERS if one.unit == NS)

Factors = Callable[[np.random.Generator, int], tuple[list[float], list[float]]]
"""From the number of blocks: factors of CPU time in each, for the first and the second."""


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
    order = {cell.contender: cell.contender_order for cell in ledger.cells}
    blocks = sorted({trial.block for trial in ledger.trials})
    by_name: dict[str, dict[int, float]] = {}
    for at, both in enumerate(pairs(order).values()):
        chance = np.random.default_rng([SEED, number, at])
        planted = BIASES[name](chance, len(blocks))
        for contender, factors in zip(both, planted, strict=True):
            by_name[contender] = dict(zip(blocks, factors, strict=True))
    names = {cell.id: cell.contender for cell in ledger.cells}
    trials = [slowed(trial, by_name[names[trial.cell_id]][trial.block]) for trial in ledger.trials]
    return replace(ledger, trials=trials)


def slowed(trial: Trial, factor: float) -> Trial:
    counters = {
        key: replace(counter, value=counter.value * factor)
        if key[0] == SERVER
        and parse_event_name(key[2]).name in CPU_EVENTS
        and counter.value is not None
        else counter
        for key, counter in trial.counters.items()
    }
    return replace(trial, counters=counters)
