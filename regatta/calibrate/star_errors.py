"""Stars: how often a table gives no star to one of the best, and how often only the best has one.

Tables are drawn from real blocks of one race of all designs, as many blocks as a typical race has.
Removing each contender's mean makes all equal but keeps common and individual noise. There are
three kinds of tables: equal contenders, some with random bursts of noise; one contender a little
cheaper, with real noise only; and one cheaper contender with bursts, which often seems to cost more
than a calm one, beside a third that costs most. Comparing only the first with the second gets the
last kind wrong.

The tables show how the rule treats such noise. Biased races are the subject of `equals`.
"""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from regatta.analysis.contrast import by_block
from regatta.analysis.statistics.autocorrelation import Floats
from regatta.analysis.statistics.comparisons_with_best import standings
from regatta.analysis.statistics.leads import leads
from regatta.analysis.statistics.level import LEVEL
from regatta.calibrate.goals import CalibrationPart, Context
from regatta.calibrate.sizes import (
    BLOCKS,
    CHEAPER_PERCENT,
    ENOUGH_BLOCKS,
    FOUND_PERCENT,
    MOST_WRONG_PERCENT,
    StarSizes,
    sizes,
)
from regatta.calibrate.workers import on_all_cpus
from regatta.ledger.inputs.calibration import Goal
from regatta.ledger.metrics import PRIMARY, side_of
from regatta.ledger.read import read
from regatta.study import Study, parse_study

SEED = 1984
CONNECTIONS = 10
FEW = 3
EQUAL, CHEAPER, BURSTING = "equal", "cheaper", "bursting"
"""The kinds of tables: all equal, with bursts; one cheaper; one of three cheaper, with bursts."""
NEXT = "next"
"""The injected error: compares only the first with the second."""
NOISIER_TO = 2.0
"""The noise of each contender is scaled by 1 to this."""
BURST_BLOCKS = 0.2
"""Share of blocks with bursts."""
BURST = 0.2
"""Mean relative size of a burst; how often a contender is hit differs."""
LONG_BURST = 0.7
"""The same for the cheapest with bursts, which is hit in each of these blocks."""
DEARER = 0.06
"""How much more the third contender costs in that kind of table."""


@dataclass(frozen=True)
class TableTask:
    """A table to draw, as plain data for another process."""

    number: int
    kind: str
    contenders: int
    inject: str | None


@dataclass(frozen=True)
class TableOutcome:
    wrong: bool
    """Whether one of the best has no star."""
    found: bool
    """Whether only the best has a star."""


def run(context: Context) -> list[Goal]:
    size = sizes(context.quick)
    ledger = context.race(all_study(context, size), context.folder_for(PART.name))
    noise = noise_of(ledger)
    most, blocks = noise.shape
    if blocks < BLOCKS or most < FEW:
        reason = f"only {most} designs with {blocks} blocks in common"
        return [Goal("stars", "can be measured", reason, met=None)]
    context.say(f"drawing {size.star_tables:,} tables of each kind")
    kinds = [(kind, count) for count in dict.fromkeys((FEW, most)) for kind in (EQUAL, CHEAPER)]
    tables = range(size.star_tables)
    return [
        goal_of([TableTask(number, *kind, context.inject) for number in tables], noise)
        for kind in [*kinds, (BURSTING, FEW)]
    ]


def all_study(context: Context, size: StarSizes) -> Study:
    """All designs that run on this machine, raced as in `quick`."""
    designs = [design.name for design in context.programs.designs if design.missing is None]
    lines = [
        'name = "calibration"',
        'title = "All designs, for their noise"',
        "[race]",
        f"blocks = {size.star_blocks}",
        "counted_blocks = 0",
        f"slices = {size.star_slices}",
        "[[cells]]",
        f"designs = {json.dumps(designs)}",
        f"connections = {CONNECTIONS}",
        f"requests = {size.star_requests}",
    ]
    return parse_study("\n".join(lines) + "\n", context.programs.designs, context.folder)


def noise_of(ledger: Path) -> Floats:
    """The residuals of the logarithms: one row a contender, one column a block."""
    raced = read(ledger)
    blocks = [by_block(PRIMARY, side_of(PRIMARY), raced.trials_of(cell)) for cell in raced.cells]
    known = [values for values in blocks if not isinstance(values, str)]
    # A contender that failed too often would leave too few common blocks.
    complete = [values for values in known if 2 * len(values) > max(map(len, known))]
    common = sorted(set.intersection(*map(set, complete))) if complete else []
    logs = np.log(np.array([[values[block] for block in common] for values in complete]))
    found: Floats = logs.reshape(len(complete), len(common))
    return found - found.mean(axis=1, keepdims=True) if common else found


def draw_table(noise: Floats, task: TableTask) -> TableOutcome:
    named = {
        f"{row:02}": dict(enumerate(logs.tolist())) for row, logs in enumerate(draw(task, noise))
    }
    left_out = LEFT_OUT[task.inject](named)
    # The first is the cheaper one; if all are equal, all are the best.
    best = set(named) if task.kind == EQUAL else {"00"}
    return TableOutcome(bool(left_out & best), left_out == set(named) - {"00"})


def draw(task: TableTask, noise: Floats) -> Floats:
    chance = np.random.default_rng([SEED, task.contenders, task.number])
    rows = chance.choice(len(noise), task.contenders, replace=False)
    blocks = chance.choice(noise.shape[1], BLOCKS, replace=False)
    logs: Floats = noise[np.ix_(rows, blocks)]
    if task.kind == EQUAL:
        each = (task.contenders, 1)
        hit = chance.random(logs.shape) < chance.random(each)
        hit &= chance.random(BLOCKS) < BURST_BLOCKS
        bursts = np.where(hit, chance.exponential(BURST, logs.shape), 0.0)
        return logs * chance.uniform(1, NOISIER_TO, each) + np.log1p(bursts)
    logs[0] += np.log1p(-CHEAPER_PERCENT / 100)
    if task.kind == BURSTING:
        hit = chance.random(BLOCKS) < BURST_BLOCKS
        logs[0] += np.where(hit, np.log1p(chance.exponential(LONG_BURST, BLOCKS)), 0.0)
        logs[2] += np.log1p(DEARER)
    return logs


Named = dict[str, dict[int, float]]


def by_standings(named: Named) -> set[str]:
    """As the tables of a report decide."""
    (found,) = standings([[named]])
    return {name for name, one in found.items() if one.worse}


def by_the_next(named: Named) -> set[str]:
    plain = {
        name: {block: float(np.exp(value)) for block, value in logs.items()}
        for name, logs in named.items()
    }
    means = {name: sum(values.values()) for name, values in plain.items()}
    (lead,) = leads({1: plain})
    seen = lead is not None and lead.p_value() <= LEVEL
    return set(named) - {min(means, key=means.__getitem__)} if seen else set()


LEFT_OUT = {None: by_standings, NEXT: by_the_next}
"""By injected error: the contenders found worse than the best."""


def goal_of(tasks: list[TableTask], noise: Floats) -> Goal:
    kind, contenders = tasks[0].kind, tasks[0].contenders
    outcomes = on_all_cpus(partial(draw_table, noise), tasks)
    wrong = 100 * sum(one.wrong for one in outcomes) / len(outcomes)
    found = 100 * sum(one.found for one in outcomes) / len(outcomes)
    enough = noise.shape[1] >= ENOUGH_BLOCKS
    detail = (
        f"{len(tasks):,} tables of {BLOCKS} of {noise.shape[1]} real blocks of one race; within a "
        f"block trials differ by {within_blocks(noise):.1f} %"
    )
    if kind == CHEAPER:
        return Goal(
            f"stars: one of {contenders} is {CHEAPER_PERCENT} % cheaper",
            f"has the only star in at least {FOUND_PERCENT:g} %",
            f"{found:.1f} %",
            met=found >= FOUND_PERCENT if enough else None,
            detail=f"{detail}; it has no star in {wrong:.1f} %",
            value=found,
        )
    most = MOST_WRONG_PERCENT
    equal = f"stars: {contenders} equal contenders, with bursts"
    return Goal(
        equal if kind == EQUAL else f"stars: {CHEAPER_PERCENT} % cheaper, but with bursts",
        f"{'one' if kind == EQUAL else 'it'} has no star in at most {most} %",
        f"{wrong:.2f} %",
        met=wrong <= most if enough else None,
        detail=detail,
        value=wrong,
    )


def within_blocks(noise: Floats) -> float:
    """The noise that remains after pairing within blocks, in percent, for the median contender."""
    left = noise - noise.mean(axis=0)
    return 100 * float(np.median(left.std(axis=1, ddof=1)))


PART = CalibrationPart(
    name="stars",
    says="stars in drawn tables: among equals, and with one cheaper design",
    run=run,
    takes_s=420,
    injected=(NEXT,),
    reads_races=True,
)
