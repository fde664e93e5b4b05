"""From step to step: what is done is kept, what is stopped goes on from there."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from regatta.errors import UsageError
from regatta.lab.kept import Kept
from regatta.lab.report.files import write_report
from regatta.lab.step import Desk, Step
from regatta.lab.steps import STEPS


class Choice(Enum):
    GO = "go on"
    RUN = "run it"
    STOP = "stop"


class Talk(Protocol):
    """Whoever reads along: a person at a terminal, or a log."""

    def begin(self, number: int, step: Step, desk: Desk) -> None:
        """A step comes: its title, its text, its commands."""

    def choose(self, step: Step, by_hand: bool) -> Choice:
        """What to do about it."""

    def not_there(self, names: Sequence[str]) -> None:
        """Files that should be there when a person has typed the commands."""

    def end(self, step: Step, kept: Kept) -> None:
        """What it came to, and its questions."""

    def say(self, text: str) -> None:
        """A line in between."""

    def ask(self, question: str) -> str:
        """Empty where there is nobody, or no answer."""


def walk(desk: Desk, talk: Talk) -> bool:
    """Does the steps that are left; True if none is, False if the person stopped."""
    for number, step in enumerate(STEPS, start=1):
        if step.name in desk.state.done:
            continue
        for name in step.files(desk):
            desk.path(name).parent.mkdir(parents=True, exist_ok=True)
        talk.begin(number, step, desk)
        choice = do(step, desk, talk)
        if choice is Choice.STOP:
            return False
        if step.commands(desk):
            typed = choice is Choice.GO
            desk.remember(by_hand={**desk.state.by_hand, step.name: typed})
        kept = step.keep(desk)
        desk.remember(done={**desk.state.done, step.name: kept})
        write_report(desk, STEPS)
        talk.end(step, kept)
    return True


def do(step: Step, desk: Desk, talk: Talk) -> Choice:
    """What became of it: typed by the person, run by the lab, or left for another time."""
    by_hand = bool(step.commands(desk))
    while True:
        choice = talk.choose(step, by_hand)
        if choice is Choice.STOP:
            return choice
        if choice is Choice.RUN or not by_hand:
            step.run(desk)
            return Choice.RUN
        lacking = step.lacking(desk)
        if not lacking:
            return choice
        talk.not_there([str(desk.path(name)) for name in lacking])


def next_step(desk: Desk) -> Step | None:
    """None: all are done."""
    return next((step for step in STEPS if step.name not in desk.state.done), None)


def check_step(name: str) -> None:
    """UsageError if that is no step."""
    if name not in {step.name for step in STEPS}:
        known = ", ".join(step.name for step in STEPS)
        raise UsageError(f"--again is {name}; it must be one of {known}")


def forgotten_by(name: str) -> set[str]:
    """A step that is done again, and all that rest on it; UsageError if there is none."""
    check_step(name)
    forgotten = {name}
    for step in STEPS:
        if forgotten & set(step.rests_on):
            forgotten.add(step.name)
    return forgotten


def do_again(desk: Desk, name: str) -> None:
    """Forgets a step and all that rest on it; their files are put aside."""
    forgotten = forgotten_by(name)
    for step in STEPS:
        if step.name in forgotten:
            step.put_aside(desk)
    done = {of: kept for of, kept in desk.state.done.items() if of not in forgotten}
    guess = None if "guess" in forgotten else desk.state.guess
    by_hand = {of: typed for of, typed in desk.state.by_hand.items() if of not in forgotten}
    desk.remember(done=done, guess=guess, by_hand=by_hand)
