"""Biases that a lab may have: what a true A/A must not pass.

Each plants something in the server's CPU time of one of two equals, in the trials as read: nothing
in the ledger changes. It lasts for a whole race or for some blocks of it, so that no comparison
within the race can tell it from a difference of the servers.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from regatta.calibrate.equals.copies import pairs
from regatta.ledger.counters import COUNTERS, NS
from regatta.ledger.perf_spelling import parse_event_name
from regatta.ledger.records import RaceRecord, Trial
from regatta.ledger.result import SERVER

SEED = 2009
PLACED = 0.02
"""How much more the first of two in the study costs, in the lab that favours a place."""
DRIFT, PERSISTENCE = 0.03, 0.9
"""How far two equals drift apart, and how much of that carries over to the next block."""
CPU_EVENTS = frozenset(one.name for one in COUNTERS if one.unit == NS)

Factors = Callable[[np.random.Generator, int], tuple[list[float], list[float]]]
"""For so many blocks: factors of the first's and the second's CPU in each."""


def biased(share: float) -> Factors:
    """One of two equals costs that much more or less, drawn for each race."""

    def factors(chance: np.random.Generator, blocks: int) -> tuple[list[float], list[float]]:
        return [1.0] * blocks, [math.exp(chance.normal(0, share))] * blocks

    return factors


def placed(_: np.random.Generator, blocks: int) -> tuple[list[float], list[float]]:
    return [1 + PLACED] * blocks, [1.0] * blocks


def drifting(chance: np.random.Generator, blocks: int) -> tuple[list[float], list[float]]:
    """What sets two apart in one block persists into the next."""
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
    """The race of that number, as that lab would have measured it."""
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
