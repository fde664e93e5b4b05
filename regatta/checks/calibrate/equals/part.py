"""The A/A test: fresh races of equal copies, in which every difference found is a false alarm.

Each race is one unit: effects that last for a whole race (memory layout, start order, other load)
affect all its tables, so only independent races show how often a table is wrong. Nothing is
resampled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from regatta.checks.calibrate.equals import wrong_tests
from regatta.checks.calibrate.equals.copies import (
    BIASES,
    DESIGNS,
    copies_study,
    inject_bias,
    make_files,
    remove_files,
)
from regatta.checks.calibrate.equals.reported import (
    CLAIMS,
    ReportedVerdicts,
    distinguished,
    in_pairs,
    reported,
)
from regatta.checks.calibrate.goals import CalibrationPart, Context, goal_of
from regatta.checks.calibrate.shape import Shape, folder_of, on_all_cpus, run_races, shape_of
from regatta.judge.analyse import analyse
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.record.inputs import Goal
from regatta.record.metrics import BY_NAME, PRIMARY, STANDINGS
from regatta.record.read import read
from regatta.record.records import RaceRecord, Trial
from regatta.record.study import Study
from regatta.show.environment import EQUALS, NOT_RUN, PAIRS

RACES = 40
SITTINGS = 5
"""The number that the documentation recommends."""


def grouped(races: int) -> list[range]:
    """The races that form each combined race; a remainder is not used."""
    return [range(at, at + SITTINGS) for at in range(0, races - SITTINGS + 1, SITTINGS)]


def distinguished_in_sittings(ledgers: Sequence[RaceRecord]) -> dict[str, list[str]]:
    """By metric or `claims`, where two equals were distinguished."""
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
        cell_keys = {cell.id: (cell.contender, cell.connections) for cell in ledger.cells}
        trials += [
            replace(
                trial,
                id=len(trials) + at,
                block=blocks + trial.block,
                cell_id=cell_at[cell_keys[trial.cell_id]],
                sitting=number,
            )
            for at, trial in enumerate(ledger.trials, start=1)
        ]
        blocks += max((trial.block for trial in ledger.trials), default=0)
    meta = {**first.meta, "sittings": str(len(ledgers))}
    return replace(first, meta=meta, trials=trials, planned=len(trials))


AS_RACED = "as raced"
IN_SITTINGS = f"{EQUALS}pairs in {SITTINGS} sittings"
COLUMNS = (*(metric.name for metric in STANDINGS), CLAIMS)


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
    tasks = [
        EqualsTask(path, number, context.inject) for number, path in enumerate(ledgers, start=1)
    ]
    if context.inject in wrong_tests.WRONG:
        return judge_columns(shape.words(), on_all_cpus(by_wrong_analysis, tasks))
    goals = judge(shape, on_all_cpus(verdicts_of, tasks))
    together = [[tasks[at] for at in group] for group in grouped(len(tasks))]
    return goals + judge_sittings(shape, on_all_cpus(verdicts_together, together))


def judge(shape: Shape, found: Sequence[ReportedVerdicts]) -> list[Goal]:
    linked = sum(one.relinked for one in found)
    how = f"{shape.words()}; two link orders in {linked} of {len(found)} races"
    return [judge_as_raced(how, found), *judge_columns(how, [one.distinguished for one in found])]


def raced(context: Context, shape: Shape) -> list[Path]:
    """Runs the races and returns their ledgers. The copies exist only while a race runs."""

    def study_of(number: int) -> Study:
        folder = folder_of(context, PART.name, shape, number)
        return copies_study(context, shape, make_files(context, folder, number), number)

    def race(study: Study, folder: Path) -> Path:
        path = context.race(study, folder)
        remove_files(folder)
        return path

    wanted = context.races_of(RACES)
    return run_races(replace(context, race=race), PART.name, shape, wanted, study_of)


def judge_sittings(shape: Shape, found: Sequence[dict[str, list[str]]]) -> list[Goal]:
    """Judges the table of pairs with every five races combined into one of five sittings."""
    how = f"{shape.words()}; every {SITTINGS} races as one in {SITTINGS} sittings"
    return judge_columns(how, found, lambda column: f"{IN_SITTINGS}, {words_of(column)}")


def verdicts_of(task: EqualsTask) -> ReportedVerdicts:
    return reported(read_race(task))


def verdicts_together(tasks: Sequence[EqualsTask]) -> dict[str, list[str]]:
    return distinguished_in_sittings([read_race(task) for task in tasks])


def read_race(task: EqualsTask) -> RaceRecord:
    """The race, with the injected bias if any."""
    ledger = read(task.ledger)
    if task.inject is None:
        return ledger
    return inject_bias(task.inject, ledger, task.number)


def by_wrong_analysis(task: EqualsTask) -> dict[str, list[str]]:
    return wrong_tests.distinguished_by(wrong_tests.WRONG[task.inject or ""], read(task.ledger))


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
        f"{EQUALS}standings of {2 * len(DESIGNS)}, {AS_RACED}",
        wrong,
        f"{how}; wrong: calls a copy of the cheapest design worse; cheapest: {steps}",
    )


def judge_columns(
    how: str, found: Sequence[dict[str, list[str]]], label: Callable[[str], str] | None = None
) -> list[Goal]:
    """One goal for each column of the table of pairs, and one for the claims."""
    return [
        goal_of(
            (label or label_of)(column),
            [bool(one[column]) for one in found if column in one],
            detail_of(how, column, found),
        )
        for column in COLUMNS
        if any(column in one for one in found)
    ]


def label_of(column: str) -> str:
    if column == CLAIMS:
        return f"{EQUALS}a table of claims on pairs"
    kind = PAIRS if column == PRIMARY.name else f"{EQUALS}secondary column"
    return f"{kind}, {words_of(column)}"


def words_of(column: str) -> str:
    return CLAIMS if column == CLAIMS else BY_NAME[column].label


def detail_of(how: str, column: str, found: Sequence[dict[str, list[str]]]) -> str:
    wrong = [pair for one in found for pair in one.get(column, [])]
    often = sorted(set(wrong), key=lambda pair: (-wrong.count(pair), pair))
    examples = ", ".join(f"{pair} ({wrong.count(pair)})" for pair in often[:4])
    return f"{how}; {len(DESIGNS)} pairs" + (f"; most often {examples}" if examples else "")


PART = CalibrationPart(
    name="equals",
    says="equal copies of four designs in fresh races: false alarms",
    run=run,
    takes_s=4_200,
    races=RACES,
    injected=(wrong_tests.REQUESTS, wrong_tests.PEEK, *BIASES),
    reads_races=True,
)
