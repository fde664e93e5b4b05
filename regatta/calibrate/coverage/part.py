"""Coverage: how often each interval that a report prints holds the truth.

One race of a few designs gives real blocks. Thousands of shorter races with the same correlation of
neighbours are drawn from them (draw.py), and their intervals are made as a report makes them.
Intervals of levels may hold the truth in more than 97 %: few blocks cannot tell the correlation,
and they err to the wide side (serial.py). The detail also shows stretches of consecutive real
blocks; few of them do not overlap, so they can contradict only roughly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from regatta.analysis.statistics.serial import reach_of
from regatta.calibrate.binomial import interval
from regatta.calibrate.coverage.checks import Holds, IntervalCheck, Kind, Reach
from regatta.calibrate.coverage.draw import Chain, stretches
from regatta.calibrate.coverage.intervals import KINDS, independent
from regatta.calibrate.coverage.real import Real, read_real
from regatta.calibrate.goals import CalibrationPart, Context
from regatta.ledger.given.calibration import Goal
from regatta.study import Study, parse_study

INDEPENDENT = "independent"
"""The error that can be injected: blocks as independent trials."""
SEED = 1927
LEAST = 0.93
DESIGNS = ("iterative", "thread-per-client", "epoll")
CONNECTIONS = 10


@dataclass(frozen=True)
class CoverageSizes:
    blocks: int
    requests: int
    draws: int
    """Races for each kind of interval and number of blocks."""


WHOLE = CoverageSizes(blocks=120, requests=500, draws=2_000)
QUICK = CoverageSizes(blocks=20, requests=100, draws=200)


def study(context: Context, size: CoverageSizes) -> Study:
    lines = [
        'name = "calibration"',
        'title = "Blocks to draw races from"',
        "[race]",
        f"blocks = {size.blocks}",
        "counted_blocks = 0",
        "slices = 5",
        "[[cells]]",
        f"designs = {list(DESIGNS)}",
        f"connections = {CONNECTIONS}",
        'load = "burst"',
        'work = "classic"',
        f"requests = {size.requests}",
    ]
    return parse_study("\n".join(lines) + "\n", context.programs.designs, context.folder)


def run(context: Context) -> list[Goal]:
    size = QUICK if context.quick else WHOLE
    ledger = context.race(study(context, size), context.folder_for(PART.name))
    context.say(f"drawing {size.draws:,} races for each kind of interval")
    return goals(read_real(ledger, CONNECTIONS), size.draws, context.inject)


def goals(
    real: Real, draws: int, inject: str | None = None, kinds: Sequence[Kind] = KINDS
) -> list[Goal]:
    reach: Reach = independent if inject == INDEPENDENT else reach_of
    return [goal for kind in kinds for goal in _goals(kind, real, reach, draws)]


def _goals(kind: Kind, real: Real, reach: Reach, draws: int) -> Iterator[Goal]:
    checks = list(kind.checks(real, reach))
    chains = Chain.all_of([one.figures for one in checks])
    for number, blocks in enumerate(kind.blocks):
        name = f"{kind.name}, {blocks} blocks"
        most = f"to {kind.most:.0%}" if kind.most < 1 else "or more"
        goal = f"{LEAST:.0%} {most}"
        if not checks:
            yield Goal(name, goal, "no real block shows it", met=None)
            continue
        chance = np.random.default_rng([SEED, number])
        held = [
            one.holds(*(chain.race(chance, blocks) for _ in range(one.races)))
            for one, chain in zip(checks, chains, strict=True)
            for _ in range(-(-draws // (kind.every * len(checks))))
        ]
        yield _goal(name, goal, kind, held, _detail(kind, checks, chains, blocks))


def _goal(name: str, goal: str, kind: Kind, held: list[Holds], detail: str) -> Goal:
    right = sum(one is not False for one in held)
    share, endless = right / len(held), held.count(None) / len(held)
    low, high = interval(right, len(held))
    without_end = f"; {endless:.1%} lack an end" if endless else ""
    return Goal(
        name=name,
        goal=goal,
        measured=f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f}){without_end}",
        met=_met(low, high, kind.most, endless),
        detail=f"{len(held):,} races; {detail}",
        value=100 * share,
    )


def _met(low: float, high: float, most: float, endless: float) -> bool | None:
    """Missed if so many races exclude the wanted share; met if they exclude all others.

    An unbounded interval holds anything: if many are, nothing is shown.
    """
    if high < LEAST or low > most:
        return False
    return True if low >= LEAST and high <= most and endless <= 1 - LEAST else None


def _detail(kind: Kind, checks: list[IntervalCheck], chains: list[Chain], blocks: int) -> str:
    alike = chains[0].correlation
    detail = f"printed in {kind.where}; neighbours correlate by {alike:.2f}"
    if any(one.races > 1 for one in checks):
        return detail
    found = [
        one.holds(stretch) is not False
        for one in checks
        for stretch in stretches(len(one.figures), blocks)[:: kind.every]
    ]
    return f"{detail}; in stretches of real blocks {sum(found) / len(found):.0%}"


PART = CalibrationPart(
    name="coverage",
    says="how often each interval of a report holds the truth, with correlated blocks",
    run=run,
    takes_s=420,
    injected=(INDEPENDENT,),
    reads_races=True,
)
