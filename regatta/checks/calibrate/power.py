"""Power: a server slowed by known spins, in fresh races of the shape of a study.

The actual effect is the ratio measured over all races, not the length of the spin. The standings of
each race decide whether the slower server is detected, in a table with the plain one. A probit
curve is fitted to the share of races that detect each effect; its uncertainty comes from resampling
whole races.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special  # type: ignore[import-untyped]

from regatta.checks.calibrate.goals import CalibrationPart, Context, interval
from regatta.checks.calibrate.shape import Shape, on_all_cpus, run_races, shape_of
from regatta.errors import CalibrationError
from regatta.judge.analyse import analyse
from regatta.judge.results import Group
from regatta.record.inputs import Goal, RaceInputs
from regatta.record.metrics import PRIMARY
from regatta.record.read import read
from regatta.record.records import TIMED, RaceRecord
from regatta.record.study import Study

RACES = 10
FEWEST_RACES = 5
"""With fewer races the goal stays open."""
SLOWER_PERCENT = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
"""Target effects of the spins; the actual effects are measured."""
WITHIN_PERCENT = (5.0, 10.0)
"""Effects to detect in 80 % of races: over all steps, and at the hardest step."""
DETECTED = 0.8
DESIGN = "select"
PLAIN = "plain"
PILOT_BLOCKS = 4
OVER_ALL = "over all steps"
SEED = 1993
DRAWS = 200
NARROWEST, WIDEST = 0.05, 50.0
"""Bounds of the curve's width, in percent of effect: few races may jump from none to all."""
FURTHEST = 100.0

Step = int | None
"""A step of the axis; None for all steps together."""
Floats = NDArray[np.float64]
Fitted = tuple[float, float]
"""The effect detected in half of the races, and the width of the curve."""


@dataclass(frozen=True)
class RaceEffects:
    """For one race and spin, by step: the effect in percent, and whether it was detected."""

    effects: dict[Step, float]
    found: dict[Step, bool]


@dataclass(frozen=True)
class Curve:
    """The share of races that detect an effect of a given size, at one step of the axis or over
    all."""

    step: str
    effects: Floats
    """The effect measured, in percent: one row a race, one column a spin."""
    found: NDArray[np.bool_]
    """Whether the standings of that race detected the slower server."""

    @property
    def races(self) -> int:
        return len(self.effects)

    @cached_property
    def fitted(self) -> Fitted:
        return fit(self.effects.mean(axis=0), self.found.sum(axis=0), self.races)

    @property
    def seen(self) -> float:
        """The effect that is detected in 80 % of races."""
        return seen_of(self.fitted)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Its 95 % interval."""
        chance = np.random.default_rng(SEED)
        drawn = []
        for _ in range(DRAWS):
            rows = chance.integers(0, self.races, self.races)
            effects, hits = self.effects[rows].mean(axis=0), self.found[rows].sum(axis=0)
            drawn.append(seen_of(fit(effects, hits, self.races, self.fitted)))
        low, high = np.quantile(drawn, [0.025, 0.975])
        return float(low), float(high)

    def points(self) -> str:
        """Each actual effect, the mean over all races, with how often it was detected."""
        return ", ".join(
            f"{effect:.1f} % in {hit} of {self.races} ({100 * low:.0f} to {100 * high:.0f} %)"
            for effect, hit in zip(self.effects.mean(axis=0), self.found.sum(axis=0), strict=True)
            for low, high in [interval(int(hit), self.races)]
        )


def seen_of(fitted: Fitted) -> float:
    middle, width = fitted
    return min(FURTHEST, float(middle + special.ndtri(DETECTED) * width))


def fit(
    effects: Floats, hits: Sequence[int] | NDArray[np.int64], races: int, near: Fitted | None = None
) -> Fitted:
    """Middle and width of the curve by maximum likelihood, searched from `near`."""
    counts = np.asarray(hits, dtype=np.float64)

    def unlikely(parameters: Floats) -> tuple[float, Floats]:
        """The negative log-likelihood, and its gradient by middle and log width."""
        width = np.exp(parameters[1])
        z = (effects - parameters[0]) / width
        above, below = special.log_ndtr(z), special.log_ndtr(-z)
        density = -z * z / 2 - np.log(2 * np.pi) / 2
        slopes = counts * np.exp(density - above) - (races - counts) * np.exp(density - below)
        likely = counts * above + (races - counts) * below
        return -float(likely.sum()), np.array([slopes.sum() / width, (slopes * z).sum()])

    middle, width = near or (float(np.clip(np.median(effects), 0.0, FURTHEST)), 1.0)
    found = optimize.minimize(
        unlikely,
        np.array([middle, np.log(width)]),
        jac=True,
        bounds=[(0.0, FURTHEST), (np.log(NARROWEST), np.log(WIDEST))],
    )
    return float(found.x[0]), float(np.exp(found.x[1]))


def name_of(spin_us: int) -> str:
    return f"spin-{spin_us}us"


def slowed_study(
    context: Context, shape: Shape, spins_us: Sequence[int], number: int, **changes: int
) -> Study:
    """The study of this race; each race has another order. Counted trials are not needed."""
    server = str(context.programs.server)
    works = {PLAIN: shape.work}
    works |= {name_of(spin): f"{shape.work}+spin={spin}us" for spin in spins_us}
    names = list(works)
    random.Random(number).shuffle(names)
    return shape.study(
        context,
        "A server, and the same slowed by known amounts",
        {name: shape.command(server, DESIGN, works[name]) for name in names},
        counted_blocks=0,
        **changes,
    )


def run(context: Context) -> list[Goal]:
    shape = shape_of(context)
    races = context.races_of(RACES)
    if races < 2:
        return [Goal(f"power: {shape.name}", "is known", "not run", met=None)]
    spins = spins_us(context, shape)
    ledgers = run_races(
        context,
        PART.name,
        shape,
        races,
        lambda number, _: slowed_study(context, shape, spins, number),
    )
    context.say(f"judging {len(ledgers)} races")
    over_all, *steps = curves(on_all_cpus(_readings, ledgers))
    goals = [judge(shape, over_all, WITHIN_PERCENT[0], [over_all])]
    if steps:
        hardest = max(steps, key=lambda curve: curve.seen)
        goals.append(judge(shape, hardest, WITHIN_PERCENT[1], steps))
    return goals


def spins_us(context: Context, shape: Shape) -> list[int]:
    """The spins for the target effects, from the CPU per request in a pilot race."""
    folder = context.folder_for(f"{PART.name}/{shape.name}-pilot")
    alike = range(1, len(SLOWER_PERCENT) + 1)
    study = slowed_study(context, shape, alike, 0, blocks=PILOT_BLOCKS)
    ledger = read(context.race(study, folder))
    costs = [
        value
        for group in analyse(_only(ledger, (PLAIN,))).groups
        for result in group.cells
        for value in result.blocks.get(PRIMARY.name, {}).values()
    ]
    if not costs:
        raise CalibrationError("the pilot measured nothing")
    cost_us = math.exp(fmean(map(math.log, costs)))
    return sorted({max(1, round(cost_us * percent / 100)) for percent in SLOWER_PERCENT})


def _only(ledger: RaceRecord, names: Sequence[str]) -> RaceRecord:
    """The race reduced to the timed trials of these contenders."""
    cells = [cell for cell in ledger.cells if cell.contender in names]
    ids = {cell.id for cell in cells}
    trials = [
        replace(trial, samples=None)
        for trial in ledger.trials
        if trial.cell_id in ids and trial.kind == TIMED
    ]
    return replace(ledger, cells=cells, trials=trials, environment={}, inputs=RaceInputs())


def _readings(path: Path) -> dict[str, RaceEffects]:
    return readings_of(read(path))


def readings_of(ledger: RaceRecord) -> dict[str, RaceEffects]:
    """The effects in one race, by slowed server."""
    found: dict[str, RaceEffects] = {}
    for name in {cell.contender for cell in ledger.cells} - {PLAIN}:
        groups = analyse(_only(ledger, (PLAIN, name))).groups
        if len(groups) == 1:  # else nothing could be compared
            found[name] = _effects(groups[0], name)
    return found


def _effects(group: Group, name: str) -> RaceEffects:
    logs: dict[Step, float] = {}
    for step in group.steps:
        blocks = {
            result.cell.contender: result.blocks.get(PRIMARY.name, {}) for result in group.at(step)
        }
        common = blocks.get(name, {}).keys() & blocks.get(PLAIN, {}).keys()
        if common:
            logs[step] = fmean(math.log(blocks[name][at] / blocks[PLAIN][at]) for at in common)
    if logs:
        logs[None] = fmean(logs.values())
    worse = {verdict.at: verdict.worse for verdict in (group.overall, *group.by_step)}
    return RaceEffects(
        effects={step: 100 * math.expm1(log) for step, log in logs.items()},
        found={step: name in worse[step] for step in logs},
    )


def curves(by_race: Sequence[dict[str, RaceEffects]]) -> list[Curve]:
    """The curves of each step; the one over all steps comes first."""
    spins = set.intersection(*(set(race) for race in by_race))
    if not spins:
        raise CalibrationError("no race measured a slowed server")
    steps = set.intersection(*(set(race[spin].effects) for race in by_race for spin in spins))
    if not steps:
        raise CalibrationError("the races have no step in common")
    ordered = sorted(steps, key=lambda step: -1 if step is None else step)
    if len(ordered) == 2:  # one step, and over all of it: the same
        ordered = ordered[:1]
    names = sorted(spins, key=lambda name: (len(name), name))  # by their length
    return [
        Curve(
            OVER_ALL if step is None else f"at {step:,}",
            np.array([[race[spin].effects[step] for spin in names] for race in by_race]),
            np.array([[race[spin].found[step] for spin in names] for race in by_race]),
        )
        for step in ordered
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
        + "; ".join(f"{each.step}: {each.points()}" for each in shown),
        value=curve.seen,
    )


PART = CalibrationPart(
    name="power",
    says="a server slowed by known amounts in fresh races: how often it is found",
    run=run,
    takes_s=700,
    races=RACES,
)
