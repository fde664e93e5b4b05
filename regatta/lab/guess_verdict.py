"""Compares the guess, and the winner of the first table, with the race."""

from collections.abc import Sequence

from regatta.analysis.results import Group
from regatta.analysis.standings import LARGER, NO_DIFFERENCE, Verdict
from regatta.lab.state import Guess
from regatta.report.text.numbers import between, times
from regatta.report.text.verdicts import headline, listed


def judged_guess(guess: Guess, group: Group) -> list[str]:

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
