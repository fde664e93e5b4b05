"""The A/A test: fresh races of equal copies, in which every difference found is a false alarm.

Each race is one unit: effects that last for a whole race (memory layout, start order, other load)
affect all its tables, so only independent races show how often a table is wrong. Nothing is
resampled.

Of each race two tables are judged. As raced: all contenders in one table, in which only a copy of
the cheapest design can wrongly be called worse. In pairs: the first in the study against the
second, with each pair at separate steps of one table; every difference found there is a false
alarm.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from regatta.checks.calibrate.goals import CalibrationPart, Context, goal_of
from regatta.checks.calibrate.injected import (
    BIASES,
    DESIGNS,
    WRONG,
    copies_study,
    design_of,
    distinguished_by,
    inject_bias,
    is_relinked,
    make_files,
    pairs_of,
    remove_files,
)
from regatta.checks.calibrate.shape import Shape, on_all_cpus, run_races, shape_of
from regatta.judge.analyse import analyse
from regatta.judge.claims.result import REFUTED, SUPPORTED
from regatta.judge.results import Analysis, Group
from regatta.judge.standings import LARGER, TOO_FEW
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.record.cell import Cell
from regatta.record.inputs import ORDER, Claim, Goal, RaceInputs, RecordedClaim, Statement
from regatta.record.metrics import BY_NAME, PRIMARY, STANDINGS
from regatta.record.read import read
from regatta.record.records import RaceRecord
from regatta.record.study import Study
from regatta.show.environment import EQUALS, NOT_RUN, PAIRS

RACES = 40
FIRST, SECOND = "first", "second"
FURTHER = 100_000
"""Offset between the steps of pairs, larger than any number of connections."""
CLAIMS = "claims"
CLAIMED = ("task_clock", "context_switches", "page_faults", "latency_p50", "latency_max")
"""The metrics of most claims of the study `reports`."""
COLUMNS = (*(metric.name for metric in STANDINGS), CLAIMS)

GroupStep = tuple[int, int | None]
"""A table of the race and a step; None for all steps."""
Distinguished = dict[str, list[str]]
"""By metric that was measured, or `claims`: where two equals were distinguished."""


@dataclass(frozen=True)
class ReportedVerdicts:
    worse: dict[GroupStep, frozenset[str]]
    """As raced: the designs of which a copy is called worse."""
    needs: dict[GroupStep, dict[str, float]]
    """As raced: the mean logarithm of the CPU per request of each design's two copies."""
    distinguished: Distinguished
    relinked: bool = False
    """Whether the copies of each pair had different link orders."""


def reported(ledger: RaceRecord) -> ReportedVerdicts:
    """The verdicts of a report on equal copies."""
    worse: dict[GroupStep, frozenset[str]] = {}
    needs: dict[GroupStep, dict[str, float]] = {}
    for number, group in enumerate(analyse(ledger).groups):
        for verdict in (group.overall, *group.by_step):
            worse[number, verdict.at] = frozenset(map(design_of, verdict.worse))
            needs[number, verdict.at] = _needed(group, verdict.at)
    found = distinguished(analyse(in_pairs(ledger)))
    return ReportedVerdicts(worse, needs, found, is_relinked(ledger))


def _needed(group: Group, at: int | None) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for step in group.steps if at is None else [at]:
        for result in group.at(step):
            blocks = result.blocks.get(PRIMARY.name, {}).values()
            found.setdefault(design_of(result.cell.contender), []).extend(map(math.log, blocks))
    return {design: fmean(logs) for design, logs in found.items() if logs}


def in_pairs(ledger: RaceRecord) -> RaceRecord:
    """The same trials as one table of two contenders."""
    cells = [
        replace(
            cell,
            contender=(FIRST, SECOND)[both.index(cell.contender)],
            contender_order=both.index(cell.contender),
            connections=cell.connections + FURTHER * number,
        )
        for number, both in enumerate(pairs_of(ledger).values())
        for cell in ledger.cells
        if cell.contender in both
    ]
    environment = {key: value for key, value in ledger.environment.items() if key == "placement"}
    inputs = RaceInputs(claims=tuple(RecordedClaim(_claim(metric, cells)) for metric in CLAIMED))
    return replace(ledger, cells=cells, environment=environment, inputs=inputs)


def _claim(metric: str, cells: Sequence[Cell]) -> Claim:
    """That the first of each pair is below the second, at each step: undecidable."""
    statement = Statement(
        kind=ORDER,
        metric=metric,
        side="client" if metric.startswith("latency") else "server",
        connections=tuple(sorted({cell.connections for cell in cells})),
        groups=((FIRST,), (SECOND,)),
        designs=(FIRST, SECOND),
    )
    return Claim(metric, f"The first is below the second in {metric}.", (statement,))


def distinguished(analysis: Analysis) -> Distinguished:
    """Of a race in pairs."""
    found: Distinguished = {}
    for group in analysis.groups:
        for metric in STANDINGS:
            columns = [column for column in group.against if column.metric == metric.name]
            if any(column.outcome != TOO_FEW for column in columns):
                apart = (divmod(col.at, FURTHER) for col in columns if col.outcome == LARGER)
                words = [f"pair {number + 1} at {step:,}" for number, step in apart]
                found.setdefault(metric.name, []).extend(words)
        if PRIMARY.name in found and group.overall.worse and len(group.steps) > 1:
            found[PRIMARY.name].append("over all")
    parts = [
        part for claim in analysis.claims for scope in claim.scopes.values() for part in scope.parts
    ]
    if parts:
        found[CLAIMS] = [part.label for part in parts if part.verdict in (SUPPORTED, REFUTED)]
    return found


@dataclass(frozen=True)
class EqualsTask:
    """A race to judge, as plain data for another process."""

    ledger: Path
    number: int
    inject: str | None


def run(context: Context) -> list[Goal]:
    shape = shape_of(context)
    ledgers = raced(context, shape)
    if not ledgers:
        return [Goal(PAIRS, f"wrong in at most {100 * LEVEL:g} % of races", NOT_RUN, met=None)]
    context.say(f"judging {len(ledgers)} races")
    tasks = [EqualsTask(path, number, context.inject) for number, path in enumerate(ledgers, 1)]
    if context.inject in WRONG:
        return judge_columns(shape.words(), on_all_cpus(_by_wrong_analysis, tasks))
    return judge(shape, on_all_cpus(verdicts_of, tasks))


def raced(context: Context, shape: Shape) -> list[Path]:
    """Runs the races and returns their ledgers. The copies exist only while a race runs."""

    def study_of(number: int, folder: Path) -> Study:
        return copies_study(context, shape, make_files(context, folder, number), number)

    def race(study: Study, folder: Path) -> Path:
        path = context.race(study, folder)
        remove_files(folder)
        return path

    wanted = context.races_of(RACES)
    return run_races(replace(context, race=race), PART.name, shape, wanted, study_of)


def verdicts_of(task: EqualsTask) -> ReportedVerdicts:
    """Of a race, with the injected bias if any."""
    ledger = read(task.ledger)
    return reported(
        ledger if task.inject is None else inject_bias(task.inject, ledger, task.number)
    )


def _by_wrong_analysis(task: EqualsTask) -> Distinguished:
    return distinguished_by(WRONG[task.inject or ""], read(task.ledger))


def judge(shape: Shape, found: Sequence[ReportedVerdicts]) -> list[Goal]:
    linked = sum(race.relinked for race in found)
    how = f"{shape.words()}; two link orders in {linked} of {len(found)} races"
    return [judge_as_raced(how, found), *judge_columns(how, [race.distinguished for race in found])]


def judge_as_raced(how: str, found: Sequence[ReportedVerdicts]) -> Goal:
    """Wrong if a copy of the cheapest design is called worse: its equal is not cheaper.

    The cheapest design at each step is determined from all races together.
    """
    cheapest = {
        step: min(
            DESIGNS,
            key=lambda design: fmean(
                [race.needs[step][design] for race in found if design in race.needs.get(step, {})]
                or [float("inf")]
            ),
        )
        for step in {step for race in found for step in race.worse}
    }
    wrong = [any(cheapest[step] in worse for step, worse in race.worse.items()) for race in found]
    steps = ", ".join(
        f"{design} {'over all' if at is None else f'at {at:,}'}"
        for (_, at), design in sorted(cheapest.items(), key=lambda item: item[0][1] or 0)
    )
    return goal_of(
        f"{EQUALS}standings of {2 * len(DESIGNS)}, as raced",
        wrong,
        f"{how}; wrong: calls a copy of the cheapest design worse; cheapest: {steps}",
    )


def judge_columns(how: str, found: Sequence[Distinguished]) -> list[Goal]:
    """One goal for each column of the table of pairs, and one for the claims."""
    return [
        goal_of(
            _label(column),
            [bool(race[column]) for race in found if column in race],
            f"{how}; {len(DESIGNS)} pairs{_most_often(column, found)}",
        )
        for column in COLUMNS
        if any(column in race for race in found)
    ]


def _label(column: str) -> str:
    if column == CLAIMS:
        return f"{EQUALS}a table of claims on pairs"
    first = PAIRS if column == PRIMARY.name else f"{EQUALS}secondary column"
    return f"{first}, {BY_NAME[column].label}"


def _most_often(column: str, found: Sequence[Distinguished]) -> str:
    wrong = [pair for race in found for pair in race.get(column, [])]
    often = sorted(set(wrong), key=lambda pair: (-wrong.count(pair), pair))
    examples = ", ".join(f"{pair} ({wrong.count(pair)})" for pair in often[:4])
    return f"; most often {examples}" if examples else ""


PART = CalibrationPart(
    name="equals",
    says="equal copies of four designs in fresh races: false alarms",
    run=run,
    takes_s=4_200,
    races=RACES,
    injected=(*WRONG, *BIASES),
)
