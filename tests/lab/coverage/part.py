"""Coverage: how often each kind of interval in a report contains the truth.

    python -m tests.lab.coverage.part races/FOLDER

One race of a few designs provides real blocks. Thousands of shorter races with the same correlation
of neighbours are drawn from them (draw.py), with intervals computed as in a report. Intervals of
levels may cover more than 97 %: they are conservative because few blocks cannot show the
correlation (autocorrelation.py). The detail also shows the coverage in stretches of consecutive
real blocks, which overlap and are therefore only a rough check.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from regatta.checks.calibrate.goals import interval
from regatta.judge.statistics.autocorrelation import reach_of
from regatta.record.inputs import Goal
from regatta.record.schema import FILE_NAME
from tests.lab.coverage.checks import Holds, IntervalCheck, Kind, Reach
from tests.lab.coverage.draw import Chain, stretches
from tests.lab.coverage.intervals import KINDS, independent
from tests.lab.coverage.real_blocks import RealBlocks, read_real_blocks

INDEPENDENT = "independent"
"""The injected error: treats blocks as independent."""
SEED = 1927
LEAST = 0.93
DRAWS = 2_000


def goals(
    real: RealBlocks, draws: int, inject: str | None = None, kinds: Sequence[Kind] = KINDS
) -> list[Goal]:
    reach: Reach = independent if inject == INDEPENDENT else reach_of
    return [goal for kind in kinds for goal in _goals(kind, real, reach, draws)]


def _goals(kind: Kind, real: RealBlocks, reach: Reach, draws: int) -> Iterator[Goal]:
    checks = list(kind.checks(real, reach))
    chains = Chain.all_of([one.figures for one in checks])
    for number, blocks in enumerate(kind.blocks):
        name = f"{kind.name}, {blocks} blocks"
        most = f"to {kind.most:.0%}" if kind.most < 1 else "or more"
        goal = f"{LEAST:.0%} {most}"
        if not checks:
            yield Goal(name, goal, "the race has no data for it", met=None)
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
    without_end = f"; {endless:.1%} unbounded" if endless else ""
    return Goal(
        name=name,
        goal=goal,
        measured=f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f}){without_end}",
        met=_met(low, high, kind.most, endless),
        detail=f"{len(held):,} races; {detail}",
        value=100 * share,
    )


def _met(low: float, high: float, most: float, endless: float) -> bool | None:
    """Missed if the drawn races exclude the required coverage; met if they exclude any other.

    If too many intervals are unbounded, and so contain anything, the goal stays open.
    """
    if high < LEAST or low > most:
        return False
    return True if low >= LEAST and high <= most and endless <= 1 - LEAST else None


def _detail(kind: Kind, checks: list[IntervalCheck], chains: list[Chain], blocks: int) -> str:
    alike = chains[0].correlation
    detail = f"shown in {kind.where}; correlation of neighbours {alike:.2f}"
    if any(one.races > 1 for one in checks):
        return detail
    found = [
        one.holds(stretch) is not False
        for one in checks
        for stretch in stretches(len(one.figures), blocks)[:: kind.every]
    ]
    return f"{detail}; in stretches of real blocks {sum(found) / len(found):.0%}"


def main() -> None:
    """Of the race in this folder, of at least a hundred blocks at one number of connections."""
    real = read_real_blocks(Path(sys.argv[1]) / FILE_NAME)
    for goal in goals(real, DRAWS):
        print(f"{goal.name}: {goal.measured}, {goal.goal}; {goal.detail}")


if __name__ == "__main__":
    main()
