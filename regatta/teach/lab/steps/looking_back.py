"""A guess before the race; and at the end, what was wrong with the first table."""

from collections.abc import Callable, Sequence
from itertools import groupby
from statistics import fmean

from regatta.errors import UsageError
from regatta.judge.results import Group
from regatta.judge.standings import LARGER, NO_DIFFERENCE, Verdict
from regatta.show.numbers import between, capitalized, percent, plural, times
from regatta.show.verdicts import headline, listed
from regatta.teach.lab.state import Guess, LabSetting, StepResult
from regatta.teach.lab.step import Lab, Step
from regatta.teach.lab.steps.counting import SERVER, counted_file, first_counts, first_spent, least
from regatta.teach.lab.steps.racing import RACE, SINGLE_RUNS, Runs, by_run, raced, winners
from regatta.teach.review import review
from regatta.teach.review.names import TASK_CLOCK

MOST_TIMES = 1000.0
GUESS = "guess"
NO_GUESS = "No guess was made."


def said_guess(lab: Lab) -> StepResult:
    guess = lab.state.guess
    return StepResult(said=(NO_GUESS if guess is None else f"The guess: {in_words(guess)}.",))


def in_words(guess: Guess) -> str:
    least = f"{guess.design} needs the least server CPU"
    return least if guess.by is None else f"{least}, the runner-up {guess.by:g} times as much"


def check_guess(guess: Guess, setting: LabSetting) -> None:
    """UsageError for a guess that can never be right."""
    if guess.design not in setting.designs:
        raise UsageError(f"--guess is {guess.design}; it must be {listed_or(setting.designs)}")
    if guess.by is not None and not 1 <= guess.by <= MOST_TIMES:
        raise UsageError(f"--by is {guess.by:g}; it must be a number from 1 to {MOST_TIMES:g}")


def listed_or(names: Sequence[str]) -> str:
    return listed(names).replace(" and ", " or ")


def ask_for(lab: Lab) -> Guess | None:
    """None without a terminal, or if the student makes no guess."""
    names = ", ".join(lab.setting.designs)
    least = ask_until(lab, f"Least server CPU ({names}; Enter: no guess): ", Guess)
    if least is None:
        return None

    def by(answer: str) -> Guess:
        return Guess(least.design, float(answer.replace(",", ".")))

    question = "How many times as much the runner-up needs, e.g. 1.2 (Enter: no guess): "
    return ask_until(lab, question, by) or least


def ask_until(lab: Lab, question: str, guess_of: Callable[[str], Guess]) -> Guess | None:
    """Repeats the question after an invalid answer."""
    while answer := lab.ask(question):
        try:
            guess = guess_of(answer)
            check_guess(guess, lab.setting)
        except UsageError as error:
            lab.say(str(error))
        except ValueError:
            lab.say(f"{answer} is not a number.")
        else:
            return guess
    return None


def judged_guess(guess: Guess, group: Group) -> list[str]:
    """Compares the guess with the race."""
    verdict = group.overall
    design = f"The guess was {guess.design}. {judged_design([guess.design], group)}"
    if guess.by is None or verdict.lead is None or verdict.low is None or verdict.high is None:
        return [design]
    lead = (verdict.lead, verdict.low, verdict.high)
    measured = f"{times(*lead, guess.by)} times ({between(*lead, guess.by)})"
    where = "inside" if verdict.low <= guess.by <= verdict.high else "outside"
    return [
        design,
        f"The guess was {guess.by:g} times as much; the race measured {measured}: the guess is "
        f"{where} the interval.",
    ]


def judged_design(said: Sequence[str], group: Group) -> str:
    """What the race says about the designs that were named as best."""
    verdict = group.overall
    if verdict.outcome == LARGER:
        right = list(said) == list(verdict.best)
        return f"{'Right' if right else 'Wrong'}: {headline(group)}."
    if verdict.outcome == NO_DIFFERENCE:
        return _among(said, verdict)
    return f"The race is undecided: {headline(group)}."


def _among(said: Sequence[str], verdict: Verdict) -> str:
    best = listed(verdict.best)
    if set(said) <= set(verdict.best):
        return f"Undecided: {best} cannot be distinguished."
    return f"Wrong: {best} are ahead, and cannot be distinguished from each other."


def what_was_wrong(lab: Lab) -> StepResult:
    group = raced(lab, RACE).groups[0]
    race, single = by_run(group), by_run(raced(lab, SINGLE_RUNS).groups[0])
    spent = first_spent(lab)
    said = []
    if spent:
        first = least(spent)
        said.append(f"The first table's winner: {listed(first)}. {judged_design(first, group)}")
        said.append(how_often(first, single))
        said += start_and_end(single, race)
    said += scatter(spent, single)
    if lab.state.guess is not None:
        said += judged_guess(lab.state.guess, group)
    return StepResult(said=(*said, *reviewed(lab)))


def how_often(first: Sequence[str], single: Runs) -> str:
    won = winners(single)
    count = max((len(blocks) for blocks in single.values()), default=0)
    best = max((won.get(name, 0) for name in first), default=0)
    return f"{listed(first)} needed the least CPU time in {best} of {plural(count, 'single run')}."


def start_and_end(single: Runs, race: Runs) -> list[str]:
    """The share of single runs that is not request handling; the mean over all runs, as one may
    be off by chance."""
    found = []
    for design, runs in single.items():
        blocks = race.get(design)
        if runs and blocks:
            share = 1 - fmean(blocks.values()) / fmean(runs.values())
            if share > 0:
                found.append(f"{design} {percent(share)}")
    if not found:
        return []
    return [
        "A single run also counts startup, shutdown and cold caches, which the race leaves out. "
        f"Their average share of the single runs: {', '.join(found)}."
    ]


def scatter(spent: dict[str, float], single: Runs) -> list[str]:
    """The range of single runs of one design, compared with the range of the first table."""
    ranges = {
        name: max(blocks.values()) / min(blocks.values())
        for name, blocks in single.items()
        if blocks and min(blocks.values()) > 0
    }
    if not ranges:
        return []
    widest = max(ranges, key=lambda name: ranges[name])
    said = (
        f"Among the ten single runs of {widest}, the largest figure is {times(ranges[widest])} "
        "times the smallest, although the runs were identical."
    )
    if len(spent) > 1:
        said += (
            " In the first table, which compares different designs, the largest is "
            f"{times(max(spent.values()) / min(spent.values()))} times the smallest."
        )
    return [said]


def reviewed(lab: Lab) -> list[str]:
    """What `regatta review` finds in the servers' files; one paragraph per kind of finding."""
    by_perf = [name for name, counts in first_counts(lab).items() if TASK_CLOCK in counts]
    found = review([str(lab.path(counted_file(name, SERVER))) for name in by_perf]).findings
    said = []
    for check, of_check in groupby(found, key=lambda one: one.check):
        alike = list(of_check)
        more = f" ({plural(len(alike), 'file')})" if len(alike) > 1 else ""
        first = capitalized(check.title)
        said.append(f"{first}{more}: {alike[0].says} Do: {check.do}")
    return said


MAKE_GUESS = Step(
    name=GUESS,
    title="A guess",
    text=(
        "Before you measure any further: which design needs the least CPU time on the server, and "
        "how many times as much does the runner-up need? If you commit to a guess first, you will "
        "read the result more carefully.",
    ),
    questions=(
        "Why this design? Name the work that the other designs have to do and this one does not.",
    ),
    depends_on=("table",),
    run=lambda lab: lab.remember(guess=lab.guess or ask_for(lab)),
    result=said_guess,
)
LOOK_BACK = Step(
    name="wrong",
    title="What was wrong with the first table",
    text=(
        "The kernel counted every figure in the first table, and none of them is false. The "
        "mistake was in the conclusion. The lab now compares your table with the ten runs and the "
        "race, and checks it with `regatta review`, which points out what such figures cannot "
        "show.",
    ),
    questions=(
        "Which of these problems could you have found by looking at the table alone?",
        "If you had only half an hour for the whole comparison, what would you do first?",
        "Choose a table from a paper or a web page that you know, and check it in the same way.",
    ),
    depends_on=("table", GUESS, SINGLE_RUNS, RACE),
    result=what_was_wrong,
)
