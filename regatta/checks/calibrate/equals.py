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
from regatta.record.records import RaceRecord, Trial
from regatta.record.study import Study
from regatta.show.environment import EQUALS, NOT_RUN, PAIRS

RACES = 40
SITTINGS = 5
"""The number that the documentation recommends."""
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
        for one in group.at(step):
            blocks = one.blocks.get(PRIMARY.name, {}).values()
            found.setdefault(design_of(one.cell.contender), []).extend(map(math.log, blocks))
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
    inputs = RaceInputs(claims=tuple(RecordedClaim(_claim(one, cells)) for one in CLAIMED))
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
            columns = [one for one in group.against if one.metric == metric.name]
            if any(one.outcome != TOO_FEW for one in columns):
                apart = (divmod(one.at, FURTHER) for one in columns if one.outcome == LARGER)
                words = [f"pair {number + 1} at {step:,}" for number, step in apart]
                found.setdefault(metric.name, []).extend(words)
        if PRIMARY.name in found and group.overall.worse and len(group.steps) > 1:
            found[PRIMARY.name].append("over all")
    parts = [
        part for claim in analysis.claims for one in claim.scopes.values() for part in one.parts
    ]
    if parts:
        found[CLAIMS] = [part.label for part in parts if part.verdict in (SUPPORTED, REFUTED)]
    return found


def grouped(races: int) -> list[range]:
    """The races that form each combined race; a remainder is not used."""
    return [range(at, at + SITTINGS) for at in range(0, races - SITTINGS + 1, SITTINGS)]


def distinguished_in_sittings(ledgers: Sequence[RaceRecord]) -> Distinguished:
    return distinguished(analyse(as_sittings([in_pairs(ledger) for ledger in ledgers])))


def as_sittings(ledgers: Sequence[RaceRecord]) -> RaceRecord:
    """One race with the trials of all, in the cells of the first.

    Effects that last for a whole race (file layout, networks, time of day) vary between sittings,
    as they do between fresh races. Every difference that the combined race reports is a false
    alarm.
    """
    first = ledgers[0]
    cell_at = {(cell.contender, cell.connections): cell.id for cell in first.cells}
    trials: list[Trial] = []
    blocks = 0
    for number, ledger in enumerate(ledgers, start=1):
        same = {cell.id: cell_at[cell.contender, cell.connections] for cell in ledger.cells}
        trials += [
            replace(
                trial,
                id=len(trials) + at,
                block=blocks + trial.block,
                cell_id=same[trial.cell_id],
                sitting=number,
            )
            for at, trial in enumerate(ledger.trials, start=1)
        ]
        blocks += max((trial.block for trial in ledger.trials), default=0)
    meta = {**first.meta, "sittings": str(len(ledgers))}
    return replace(first, meta=meta, trials=trials, planned=len(trials))


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
    goals = judge(shape, on_all_cpus(verdicts_of, tasks))
    together = [[tasks[at] for at in group] for group in grouped(len(tasks))]
    return goals + judge_sittings(shape, on_all_cpus(_verdicts_together, together))


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
    return reported(_read_race(task))


def _verdicts_together(tasks: Sequence[EqualsTask]) -> Distinguished:
    return distinguished_in_sittings([_read_race(task) for task in tasks])


def _read_race(task: EqualsTask) -> RaceRecord:
    """The race, with the injected bias if any."""
    ledger = read(task.ledger)
    return ledger if task.inject is None else inject_bias(task.inject, ledger, task.number)


def _by_wrong_analysis(task: EqualsTask) -> Distinguished:
    return distinguished_by(WRONG[task.inject or ""], read(task.ledger))


def judge(shape: Shape, found: Sequence[ReportedVerdicts]) -> list[Goal]:
    linked = sum(one.relinked for one in found)
    how = f"{shape.words()}; two link orders in {linked} of {len(found)} races"
    return [judge_as_raced(how, found), *judge_columns(how, [one.distinguished for one in found])]


def judge_sittings(shape: Shape, found: Sequence[Distinguished]) -> list[Goal]:
    """Judges the table of pairs with every five races combined into one of five sittings."""
    how = f"{shape.words()}; every {SITTINGS} races as one in {SITTINGS} sittings"
    return judge_columns(how, found, in_sittings=True)


def judge_as_raced(how: str, found: Sequence[ReportedVerdicts]) -> Goal:
    """Wrong if a copy of the cheapest design is called worse: its equal is not cheaper.

    The cheapest design at each step is determined from all races together.
    """
    cheapest = {
        step: min(
            DESIGNS,
            key=lambda design: fmean(
                [one.needs[step][design] for one in found if design in one.needs.get(step, {})]
                or [float("inf")]
            ),
        )
        for step in {step for one in found for step in one.worse}
    }
    wrong = [any(cheapest[step] in worse for step, worse in one.worse.items()) for one in found]
    steps = ", ".join(
        f"{design} {'over all' if at is None else f'at {at:,}'}"
        for (_, at), design in sorted(cheapest.items(), key=lambda one: one[0][1] or 0)
    )
    return goal_of(
        f"{EQUALS}standings of {2 * len(DESIGNS)}, as raced",
        wrong,
        f"{how}; wrong: calls a copy of the cheapest design worse; cheapest: {steps}",
    )


def judge_columns(
    how: str, found: Sequence[Distinguished], in_sittings: bool = False
) -> list[Goal]:
    """One goal for each column of the table of pairs, and one for the claims."""
    return [
        goal_of(
            _label(column, in_sittings),
            [bool(one[column]) for one in found if column in one],
            f"{how}; {len(DESIGNS)} pairs{_most_often(column, found)}",
        )
        for column in COLUMNS
        if any(column in one for one in found)
    ]


def _label(column: str, in_sittings: bool) -> str:
    words = CLAIMS if column == CLAIMS else BY_NAME[column].label
    if in_sittings:
        return f"{EQUALS}pairs in {SITTINGS} sittings, {words}"
    if column == CLAIMS:
        return f"{EQUALS}a table of claims on pairs"
    return f"{PAIRS if column == PRIMARY.name else f'{EQUALS}secondary column'}, {words}"


def _most_often(column: str, found: Sequence[Distinguished]) -> str:
    wrong = [pair for one in found for pair in one.get(column, [])]
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
