"""A guess before the race; and at the end, what was wrong with the first table."""

from collections.abc import Sequence
from itertools import groupby

from regatta.errors import UsageError
from regatta.judge.results import Group
from regatta.judge.standings import LARGER
from regatta.show.numbers import capitalized, factor, plural
from regatta.show.verdicts import headline, listed
from regatta.teach.lab.state import LabSetting, StepResult
from regatta.teach.lab.step import Lab
from regatta.teach.lab.steps.counting import SERVER, counted_file, first_counts, first_spent, least
from regatta.teach.lab.steps.racing import RACE, SINGLE_RUNS, by_run, raced, winners
from regatta.teach.review import review
from regatta.teach.review.names import TASK_CLOCK

GUESS = "guess"
NO_GUESS = "No guess was made."


def make_guess(lab: Lab) -> None:
    """From the command line, or asked for until it can be right; none without a terminal."""
    guess = lab.guess
    question = f"Least server CPU ({', '.join(lab.setting.designs)}; Enter: no guess): "
    while guess is None and (answer := lab.ask(question)):
        try:
            check_guess(answer, lab.setting)
            guess = answer
        except UsageError as error:
            lab.say(str(error))
    lab.remember(guess=guess)


def check_guess(guess: str, setting: LabSetting) -> None:
    """UsageError for a guess that can never be right."""
    if guess not in setting.designs:
        names = listed(setting.designs).replace(" and ", " or ")
        raise UsageError(f"--guess is {guess}; it must be {names}")


def said_guess(lab: Lab) -> StepResult:
    guess = lab.state.guess
    needs = f"The guess: {guess} needs the least server CPU."
    return StepResult(said=(NO_GUESS if guess is None else needs,))


def judged_design(said: Sequence[str], group: Group) -> str:
    """What the race says about the designs that were named as best."""
    verdict = group.overall
    is_known = verdict.outcome == LARGER and len(said) == len(verdict.best)
    word = "Right" if is_known else "Undecided"
    return f"{word if set(said) <= set(verdict.best) else 'Wrong'}: {headline(group)}."


def what_was_wrong(lab: Lab) -> StepResult:
    """The first table against ten single runs and the race; and what `regatta review` finds in the
    servers' files."""
    group = raced(lab, RACE).groups[0]
    single = by_run(raced(lab, SINGLE_RUNS).groups[0])
    spent = first_spent(lab)
    said = []
    if spent:
        first, won = least(spent), winners(single)
        runs = plural(max(map(len, single.values()), default=0), "single run")
        best = max((won.get(name, 0) for name in first), default=0)
        said.append(f"The first table's winner: {listed(first)}. {judged_design(first, group)}")
        said.append(f"{listed(first)} needed the least CPU time in {best} of {runs}.")
    ranges = {
        name: max(blocks.values()) / min(blocks.values())
        for name, blocks in single.items()
        if blocks and min(blocks.values()) > 0
    }
    if ranges:
        widest = max(ranges, key=ranges.__getitem__)
        range_ = f"the largest figure is {factor(ranges[widest])} times the smallest"
        said.append(f"Among the ten identical single runs of {widest}, {range_}.")
    if len(spent) > 1:
        range_ = factor(max(spent.values()) / min(spent.values()))
        said.append(f"In the first table, which compares designs, it is {range_} times.")
    if guess := lab.state.guess:
        said.append(f"The guess was {guess}. {judged_design([guess], group)}")
    by_perf = [name for name, counts in first_counts(lab).items() if TASK_CLOCK in counts]
    found = review([str(lab.path(counted_file(name, SERVER))) for name in by_perf]).findings
    for check, of_check in groupby(found, key=lambda finding: finding.check):
        alike = list(of_check)
        more = f" ({plural(len(alike), 'file')})" if len(alike) > 1 else ""
        said.append(f"{capitalized(check.title)}{more}: {alike[0].says} Do: {check.do}")
    return StepResult(said=tuple(said))
