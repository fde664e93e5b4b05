"""Power: a server slowed by known spins, in fresh races of the shape of a study.

The actual effect is the ratio measured over all races, not the length of the spin. The standings of
each race decide whether the slower server is detected, in a table with the plain one. For the
uncertainty of the curve, whole races are resampled.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from regatta.checks.calibrate.goals import CalibrationPart, Context, interval
from regatta.checks.calibrate.power.curve import Curve, write_picture
from regatta.checks.calibrate.shape import Shape, on_all_cpus, run_races, shape_of
from regatta.errors import CalibrationError, UsageError
from regatta.judge.analyse import analyse
from regatta.judge.results import Group
from regatta.record.inputs import Goal, RaceInputs
from regatta.record.metrics import PRIMARY
from regatta.record.read import read
from regatta.record.records import TIMED, RaceRecord
from regatta.record.study import Study

RACES = 10
SLOWER_PERCENT = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
"""Target effects of the spins; the actual effects are measured."""
WITHIN_PERCENT = (5.0, 10.0)
"""Effects to detect in 80 % of races: over all steps, and at the hardest step."""
DESIGN = "select"
PLAIN = "plain"
SLOWED_WORKS = {"scan": "scan+spin", "classic": "classic+spin", "snapshot": "spin"}
"""By work, the one that first computes and then does that work."""


def name_of(spin_us: int) -> str:
    return f"spin-{spin_us}us"


def spin_of(name: str) -> int:
    return int(name.removeprefix("spin-").removesuffix("us"))


def slowed_study(
    context: Context, shape: Shape, spins_us: Sequence[int], number: int, **changes: int
) -> Study:
    """The study of this race; each race has another order."""
    if shape.work not in SLOWED_WORKS:
        raise UsageError(f"the work {shape.work} cannot be slowed; use another --shape")
    server = str(context.programs.server)
    works = {PLAIN: shape.work}
    works |= {name_of(spin): f"{SLOWED_WORKS[shape.work]}={spin}us" for spin in spins_us}
    names = list(works)
    random.Random(number).shuffle(names)
    return shape.study(
        context,
        "A server, and the same slowed by known amounts",
        {name: shape.command(server, DESIGN, works[name]) for name in names},
        **changes,
    )


PILOT_BLOCKS = 4
OVER_ALL = "over all steps"
FEWEST_RACES = 5
"""With fewer races the goal stays open."""

Step = int | None
"""A step of the axis; None for all steps together."""


@dataclass(frozen=True)
class RaceEffects:
    """For one race and spin, by step: the effect in percent, and whether it was detected."""

    effects: dict[Step, float]
    found: dict[Step, bool]


def run(context: Context) -> list[Goal]:
    shape = shape_of(context)
    races = context.races_of(RACES)
    if races < 2:
        return [Goal(f"power: {shape.name}", "is known", "not run", met=None)]
    spins = spins_us(context, shape)

    def study_of(number: int) -> Study:
        # Counted trials are not needed here.
        return slowed_study(context, shape, spins, number, counted_blocks=0)

    ledgers = run_races(context, PART.name, shape, races, study_of)
    context.say(f"judging {len(ledgers)} races")
    by_race = on_all_cpus(readings, ledgers)
    drawn = curves(by_race)
    written = write_picture(context.folder_for(PART.name), shape, drawn)
    context.say(f"the power curves of {shape.name} are in {written}")
    over_all, steps = drawn[0], drawn[1:]
    goals = [judge(shape, over_all, WITHIN_PERCENT[0], [over_all])]
    if steps:
        hardest = max(steps, key=lambda one: one.seen)
        goals.append(judge(shape, hardest, WITHIN_PERCENT[1], steps))
    return goals


def spins_us(context: Context, shape: Shape) -> list[int]:
    """The spins for the target effects, from the CPU per request in a pilot race."""
    folder = context.folder_for(f"{PART.name}/{shape.name}-pilot")
    alike = range(1, len(SLOWER_PERCENT) + 1)
    study = slowed_study(context, shape, alike, 0, blocks=PILOT_BLOCKS, counted_blocks=0)
    ledger = read(context.race(study, folder))
    costs = [
        value
        for group in analyse(only(ledger, (PLAIN,))).groups
        for one in group.cells
        for value in one.blocks.get(PRIMARY.name, {}).values()
    ]
    if not costs:
        raise CalibrationError("the pilot measured nothing")
    cost_us = math.exp(fmean(map(math.log, costs)))
    return sorted({max(1, round(cost_us * percent / 100)) for percent in SLOWER_PERCENT})


def only(ledger: RaceRecord, names: Sequence[str]) -> RaceRecord:
    """The race reduced to the timed trials of these contenders."""
    cells = [cell for cell in ledger.cells if cell.contender in names]
    ids = {cell.id for cell in cells}
    trials = [
        replace(trial, samples=None)
        for trial in ledger.trials
        if trial.cell_id in ids and trial.kind == TIMED
    ]
    return replace(ledger, cells=cells, trials=trials, environment={}, inputs=RaceInputs())


def readings(path: Path) -> dict[int, RaceEffects]:
    """The effects in one race, by spin."""
    return readings_of(read(path))


def readings_of(ledger: RaceRecord) -> dict[int, RaceEffects]:
    slowed = {cell.contender for cell in ledger.cells} - {PLAIN}
    found: dict[int, RaceEffects] = {}
    for name in slowed:
        groups = analyse(only(ledger, (PLAIN, name))).groups
        if len(groups) == 1:  # else nothing could be compared
            found[spin_of(name)] = of_table(groups[0], name)
    return found


def of_table(group: Group, name: str) -> RaceEffects:
    logs: dict[Step, float] = {}
    for step in group.steps:
        blocks = {one.cell.contender: one.blocks.get(PRIMARY.name, {}) for one in group.at(step)}
        common = blocks.get(name, {}).keys() & blocks.get(PLAIN, {}).keys()
        if common:
            logs[step] = fmean(math.log(blocks[name][at] / blocks[PLAIN][at]) for at in common)
    if logs:
        logs[None] = fmean(logs.values())
    verdicts = {None: group.overall} | {verdict.at: verdict for verdict in group.by_step}
    return RaceEffects(
        effects={step: 100 * math.expm1(log) for step, log in logs.items()},
        found={step: name in verdicts[step].worse for step in logs},
    )


def curves(by_race: Sequence[dict[int, RaceEffects]]) -> list[Curve]:
    """The curves of each step; the one over all steps comes first."""
    spins = sorted(set.intersection(*(set(one) for one in by_race)))
    if not spins:
        raise CalibrationError("no race measured a slowed server")
    steps = set.intersection(*(set(one[spin].effects) for one in by_race for spin in spins))
    if not steps:
        raise CalibrationError("the races have no step in common")
    ordered = sorted(steps, key=lambda step: -1 if step is None else step)
    alone = len(ordered) == 2  # one step, and over all of it: the same
    return [
        Curve(
            OVER_ALL if step is None else f"at {step:,}",
            np.array([[one[spin].effects[step] for spin in spins] for one in by_race]),
            np.array([[one[spin].found[step] for spin in spins] for one in by_race]),
        )
        for step in (ordered[:1] if alone else ordered)
    ]


def judge(shape: Shape, curve: Curve, within: float, shown: Sequence[Curve]) -> Goal:
    low, high = curve.interval
    where = OVER_ALL if curve.step == OVER_ALL else f"at one step (hardest: {curve.step})"
    return Goal(
        f"power: {shape.name}, {where}",
        f"{within:g} % is found in 80 % of races",
        f"{curve.seen:.1f} % ({low:.1f} to {high:.1f} %)",
        met=curve.seen <= within if curve.races >= FEWEST_RACES else None,
        detail=f"{curve.races} fresh races, {shape.words()}; a table of two; "
        + "; ".join(f"{one.step}: {points(one)}" for one in shown),
        value=curve.seen,
    )


def points(curve: Curve) -> str:
    """Each actual effect, with how often it was detected."""
    hits = curve.found.sum(axis=0)
    return ", ".join(
        f"{effect:.1f} % in {hit} of {curve.races} ({100 * low:.0f} to {100 * high:.0f} %)"
        for effect, hit in zip(curve.observed, hits, strict=True)
        for low, high in [interval(int(hit), curve.races)]
    )


PART = CalibrationPart(
    name="power",
    says="a server slowed by known amounts in fresh races: how often it is found",
    run=run,
    takes_s=700,
    races=RACES,
    reads_races=True,
)
