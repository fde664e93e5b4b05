"""Equal copies: four designs, each raced twice; and injected biases that the test must detect."""

import math
import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from regatta.checks.calibrate.goals import Context
from regatta.checks.calibrate.shape import Shape
from regatta.errors import RegattaError
from regatta.measure.race.relink import relink_all
from regatta.record.counters import COUNTERS, NS, parse_event_name
from regatta.record.records import SERVER, RaceRecord, Trial
from regatta.record.study import Study

# Equal copies: four designs, each raced twice. The copies of a pair differ in name, file, link
# order and place in the study, all drawn again for each race, so that nothing systematically
# favours one. They race as contenders, which the lab treats alike.

DESIGNS = ("fork-per-client", "thread-per-client", "prefork-accept", "epoll")
"""A process per client, a thread per client, a pool, an event loop."""
COPIES = ("a", "b")
NAMES = tuple(f"{design}-{copy}" for design in DESIGNS for copy in COPIES)
FILES = "servers"
ORDER = "order-"
"""Prefix of the folder of a relinked server."""

Relink = Callable[[Path, Mapping[int, int], Path], dict[int, Path]]


def design_of(name: str) -> str:
    return name.rpartition("-")[0]


def in_order(number: int) -> list[str]:
    """All copies, in the order of this race."""
    names = list(NAMES)
    random.Random(number).shuffle(names)
    return names


def copies_study(context: Context, shape: Shape, files: Mapping[str, Path], number: int) -> Study:
    """The study of this race."""
    return shape.study(
        context,
        "Equal copies of four designs",
        {name: shape.command(str(files[name]), design_of(name)) for name in in_order(number)},
    )


def make_files(
    context: Context, folder: Path, number: int, relink: Relink = relink_all
) -> dict[str, Path]:
    """Creates a file for each copy, so that no two share pages.

    The copies of a pair have different link orders, if the server can be relinked.
    """
    orders = dict(zip(COPIES, (2 * number, 2 * number + 1), strict=True))
    server, servers = context.programs.server, folder / FILES
    try:
        linked = relink(server, {order: order for order in orders.values()}, servers / "linked")
    except RegattaError as error:
        context.say(f"all copies have the same link order: {error}")
        linked = {}
    found: dict[str, Path] = {}
    for name in NAMES:
        order = orders[name.rpartition("-")[2]]
        path = servers / (f"{ORDER}{order}" if order in linked else "as-built") / name / server.name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(linked.get(order, server), path)
        found[name] = path
    return found


def remove_files(folder: Path) -> None:
    shutil.rmtree(folder / FILES, ignore_errors=True)


def is_relinked(ledger: RaceRecord) -> bool:
    """Whether the copies of a pair had different link orders."""
    return f"/{ORDER}" in ledger.meta.get("study_toml", "")


def pairs(order: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """By design, the first and the second copy in the study. `order` has the place of each."""
    found: dict[str, tuple[str, str]] = {}
    for design in DESIGNS:
        both = sorted((name for name in order if design_of(name) == design), key=order.__getitem__)
        if len(both) == len(COPIES):
            found[design] = (both[0], both[1])
    return found


# Injected biases of the lab, which the A/A test must detect. Each changes the server's CPU time of
# one of two equals in the trials as read; the ledger stays as it is. It lasts for a whole race or
# several blocks, so that no comparison within the race can distinguish it from a difference of the
# servers.

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
