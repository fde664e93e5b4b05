"""Stars: how often a table leaves out one of the best, and how often it finds the only best.

Real blocks of a race of all designs are drawn, as many as a race usually has. Each contender's own
mean is removed, so all are equal by construction while common and individual noise stay. On top of
that some contenders get bursts of noise at random; or one is made a little cheaper, with the real
noise alone. The third kind of table is what a comparison of the first with the second alone gets
wrong: the cheapest has bursts, so that it often seems to cost more than a calm one, and a third
costs most.

All tables are drawn from one race: they show what the rule does with such noise, and nothing of
labs that favour somebody; that is `equals`, in fresh races.
"""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from regatta.analysis.contrast import by_block
from regatta.analysis.statistics.comparisons_with_best import standings
from regatta.analysis.statistics.leads import leads
from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.serial import Floats
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
from regatta.ledger.given.calibration import Goal
from regatta.ledger.metrics import PRIMARY, side_of
from regatta.ledger.read import read
from regatta.study import Study, parse_study

SEED = 1984
CONNECTIONS = 10
FEW = 3
EQUAL, CHEAPER, BURSTING = "equal", "cheaper", "bursting"
"""The kinds of tables: all equal, with bursts; one cheaper; the cheaper of three with bursts."""
NEXT = "next"
"""The wrong way: only the first is compared with the second."""
NOISIER_TO = 2.0
"""Each contender's noise is scaled by 1 to this."""
BURST_BLOCKS = 0.2
"""Share of blocks with bursts."""
BURST = 0.2
"""The mean addition of a burst to a trial; how often it hits differs."""
LONG_BURST = 0.7
"""The same for the cheapest with bursts, in each of these blocks."""
DEARER = 0.06
"""How much more the third costs than the second, beside these."""


@dataclass(frozen=True)
class TableTask:
    """One table to be drawn: plain data, for another process."""

    number: int
    kind: str
    contenders: int
    inject: str | None


@dataclass(frozen=True)
class TableOutcome:
    wrong: bool
    """One of the best is left out."""
    found: bool
    """All but the best are left out."""


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
    """Every design that can run here, as `quick` races them."""
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
    """Each contender's residuals, one row each: logarithms, block by block."""
    raced = read(ledger)
    blocks = [by_block(PRIMARY, side_of(PRIMARY), raced.trials_of(cell)) for cell in raced.cells]
    known = [values for values in blocks if not isinstance(values, str)]
    # A contender that failed too often would cost all others their blocks.
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
    # The cheaper one is the first; without one all are the best.
    best = set(named) if task.kind == EQUAL else {"00"}
    return TableOutcome(bool(left_out & best), left_out == set(named) - {"00"})


def draw(task: TableTask, noise: Floats) -> Floats:
    chance = np.random.default_rng([SEED, task.contenders, task.number])
    who = chance.choice(len(noise), task.contenders, replace=False)
    when = chance.choice(noise.shape[1], BLOCKS, replace=False)
    logs: Floats = noise[np.ix_(who, when)]
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


def honest(named: Named) -> set[str]:
    """As every table decides it."""
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


LEFT_OUT = {None: honest, NEXT: by_the_next}
"""By injected error: who is called worse than the best."""


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
            detail=f"{detail}; it is left out in {wrong:.1f} %",
            value=found,
        )
    most = MOST_WRONG_PERCENT
    equal = f"stars: {contenders} equal contenders, with bursts"
    return Goal(
        equal if kind == EQUAL else f"stars: {CHEAPER_PERCENT} % cheaper, but with bursts",
        f"{'one' if kind == EQUAL else 'it'} is left out in at most {most} %",
        f"{wrong:.2f} %",
        met=wrong <= most if enough else None,
        detail=detail,
        value=wrong,
    )


def within_blocks(noise: Floats) -> float:
    """In per cent, of the median contender: the noise left by pairing within blocks."""
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
