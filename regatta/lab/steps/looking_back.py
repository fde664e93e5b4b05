"""What was wrong with the first table: the student's own figures against the race."""

from collections.abc import Sequence
from itertools import groupby
from statistics import fmean

from regatta.lab.judge import judged_design, judged_guess
from regatta.lab.kept import Kept
from regatta.lab.step import Desk, Step
from regatta.lab.steps.counting import SERVER, counted_file, first_counts, first_spent, least
from regatta.lab.steps.racing import RACE, SINGLE_RUNS, Runs, by_run, raced, winners
from regatta.report.text.numbers import capitalized, percent, plural, times
from regatta.report.text.verdicts import listed
from regatta.review import review
from regatta.review.names import TASK_CLOCK


class LookBack(Step):
    name = "wrong"
    title = "What was wrong with the first table"
    text = (
        "Every figure of the first table was counted by the kernel, and none of them is false. "
        "What was wrong is what it was taken for. The lab holds your table against the ten runs "
        "and the race, and has it read by `regatta review`, which knows what such figures do not "
        "show.",
    )
    questions = (
        "Which of these faults would have been found by looking at the table alone?",
        "What would you do first if you had only half an hour for the whole comparison?",
        "Take a table from a paper or a web page that you know, and ask the same of it.",
    )
    rests_on = ("table", "guess", SINGLE_RUNS, RACE)

    def files(self, desk: Desk) -> Sequence[str]:
        del desk
        return ()

    def run(self, desk: Desk) -> None:
        """Nothing is measured: all is there."""

    def keep(self, desk: Desk) -> Kept:
        group = raced(desk, RACE).groups[0]
        race, single = by_run(group), by_run(raced(desk, SINGLE_RUNS).groups[0])
        spent = first_spent(desk)
        said = []
        if spent:
            first = least(spent)
            said.append(f"The first table's winner: {listed(first)}. {judged_design(first, group)}")
            said.append(how_often(first, single))
            said += start_and_end(single, race)
        said += scatter(spent, single)
        if desk.state.guess is not None:
            said += judged_guess(desk.state.guess, group)
        said += reviewed(desk)
        return Kept(said=tuple(said))


def how_often(first: Sequence[str], single: Runs) -> str:
    won = winners(single)
    count = max((len(blocks) for blocks in single.values()), default=0)
    best = max((won.get(name, 0) for name in first), default=0)
    return (
        f"In {plural(count, 'single run')} {listed(first)} needed the least {plural(best, 'time')}."
    )


def start_and_end(single: Runs, race: Runs) -> list[str]:
    """How much of what single runs count is no request: over all ten, as one is chance too."""
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
        "Start, end and cold memory, in single runs and in no request of the race: "
        f"on average {', '.join(found)} of the figures."
    ]


def scatter(spent: dict[str, float], single: Runs) -> list[str]:
    """How far single runs of one and the same design are apart, beside the table's differences."""
    ranges = {
        name: max(blocks.values()) / min(blocks.values())
        for name, blocks in single.items()
        if blocks and min(blocks.values()) > 0
    }
    if not ranges:
        return []
    widest = max(ranges, key=lambda name: ranges[name])
    said = (
        f"Of ten single runs of {widest} the largest is {times(ranges[widest])} times the "
        "smallest; nothing differed but the moment."
    )
    if len(spent) > 1:
        said += (
            " In the first table the largest figure is "
            f"{times(max(spent.values()) / min(spent.values()))} times the smallest."
        )
    return [said]


def reviewed(desk: Desk) -> list[str]:
    """What `regatta review` finds in the servers' files, a sentence or two a kind."""
    by_perf = [name for name, counts in first_counts(desk).items() if TASK_CLOCK in counts]
    found = review([str(desk.path(counted_file(name, SERVER))) for name in by_perf]).findings
    said = []
    for check, of_check in groupby(found, key=lambda one: one.check):
        alike = list(of_check)
        more = f" ({plural(len(alike), 'file')})" if len(alike) > 1 else ""
        first = capitalized(check.title)
        said.append(f"{first}{more}: {alike[0].says} Do: {check.do}")
    return said
