"""A guess before the race; and at the end, what was wrong with the first table."""

from collections.abc import Sequence
from itertools import groupby

from regatta.errors import UsageError
from regatta.judge.results import Group
from regatta.judge.standings import LARGER
from regatta.show.numbers import capitalized, factor, plural, ratio_words
from regatta.show.verdicts import headline, listed
from regatta.teach.lab.state import Guess, LabSetting, StepResult
from regatta.teach.lab.step import Lab
from regatta.teach.lab.steps.counting import SERVER, counted_file, first_counts, first_spent, least
from regatta.teach.lab.steps.racing import RACE, SINGLE_RUNS, by_run, raced, winners
from regatta.teach.review import review
from regatta.teach.review.names import TASK_CLOCK

MOST_TIMES = 1000.0
GUESS = "guess"
NO_GUESS = "No guess was made."
QUESTION = (
    "Least server CPU ({names}), and how many times as much the runner-up needs, as `{first} 1.2` "
    "(Enter: no guess): "
)


def make_guess(lab: Lab) -> None:
    lab.remember(guess=lab.guess or ask_for(lab))


def ask_for(lab: Lab) -> Guess | None:
    """Asks until the answer can be right; None without a terminal, or for no guess."""
    names = lab.setting.designs
    while words := lab.ask(QUESTION.format(names=", ".join(names), first=names[0])).split():
        try:
            by = float(words[1].replace(",", ".")) if len(words) > 1 else None
            said = Guess(words[0], by)
            check_guess(said, lab.setting)
        except UsageError as error:
            lab.say(str(error))
        except ValueError:
            lab.say(f"{words[1]} is not a number.")
        else:
            return said
    return None


def check_guess(guess: Guess, setting: LabSetting) -> None:
    """UsageError for a guess that can never be right."""
    if guess.design not in setting.designs:
        names = listed(setting.designs).replace(" and ", " or ")
        raise UsageError(f"--guess is {guess.design}; it must be {names}")
    if guess.by is not None and not 1 <= guess.by <= MOST_TIMES:
        raise UsageError(f"--by is {guess.by:g}; it must be a number from 1 to {MOST_TIMES:g}")


def said_guess(lab: Lab) -> StepResult:
    guess = lab.state.guess
    return StepResult(said=(NO_GUESS if guess is None else f"The guess: {in_words(guess)}.",))


def in_words(guess: Guess) -> str:
    least = f"{guess.design} needs the least server CPU"
    return least if guess.by is None else f"{least}, the runner-up {guess.by:g} times as much"


def judged_guess(guess: Guess, group: Group) -> list[str]:
    """Compares the guess with the race."""
    verdict = group.overall
    design = f"The guess was {guess.design}. {judged_design([guess.design], group)}"
    lead = verdict.lead
    if guess.by is None or lead is None:
        return [design]
    measured = ratio_words(lead, guess.by, of=" times")
    where = "inside" if lead.low <= guess.by <= lead.high else "outside"
    return [
        design,
        f"The guess was {guess.by:g} times as much; the race measured {measured}: the guess is "
        f"{where} the interval.",
    ]


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
    if lab.state.guess is not None:
        said += judged_guess(lab.state.guess, group)
    by_perf = [name for name, counts in first_counts(lab).items() if TASK_CLOCK in counts]
    found = review([str(lab.path(counted_file(name, SERVER))) for name in by_perf]).findings
    for check, of_check in groupby(found, key=lambda one: one.check):
        alike = list(of_check)
        more = f" ({plural(len(alike), 'file')})" if len(alike) > 1 else ""
        said.append(f"{capitalized(check.title)}{more}: {alike[0].says} Do: {check.do}")
    return StepResult(said=tuple(said))
