"""Equal copies of four designs, and errors that a calibration injects among them."""

import math
import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.checks.calibrate.goals import Context
from regatta.checks.calibrate.shape import Shape
from regatta.errors import RegattaError
from regatta.judge.contrast import by_block, paired
from regatta.judge.statistics.percentile_comparison import FEWEST_BLOCKS
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.measure.race.relink import relink_all
from regatta.record.counters import COUNTERS, NS, parse_event_name
from regatta.record.metrics import STANDINGS, Metric, side_of
from regatta.record.records import SERVER, RaceRecord, Trial
from regatta.record.study import Study

# The copies of a pair differ in name, file, link order and place in the study, all drawn again for
# each race, so that nothing systematically favours one. They race as contenders, which the lab
# treats alike.

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


def pairs_of(ledger: RaceRecord) -> dict[str, tuple[str, str]]:
    """By design, the first and the second copy in the order of the study."""
    order = {cell.contender: cell.contender_order for cell in ledger.cells}
    names = sorted(order, key=order.__getitem__)
    found = {design: [name for name in names if design_of(name) == design] for design in DESIGNS}
    return {design: (both[0], both[1]) for design, both in found.items() if len(both) == 2}


# Biases of the lab change the server's CPU time of one of two equals in the trials as read; the
# ledger stays as it is. A bias lasts for a whole race or several blocks, so that no comparison
# within the race can distinguish it from a difference of the servers. Errors of the analysis
# compare the raced copies by a wrong test, with Bonferroni's correction for the number of pairs.

SEED = 2009
PLACED = 0.02
"""How much more the first of two in the study costs, with `place`."""
DRIFT, PERSISTENCE = 0.03, 0.9
"""How far two equals drift apart, and how much carries over to the next block."""
CPU_EVENTS = frozenset(kind.name for kind in COUNTERS if kind.unit == NS)
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
            *([trial for trial in trials if trial.block <= last] for trials in (first, second)),
        )
        for last in blocks[FIRST_TEST - 1 :]
    ]
    return min((test.p_value() for test in found if not isinstance(test, str)), default=None)


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
    return float(2 * special.ndtr(-abs(differences.mean()) / error)) if error > 0 else 1.0


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
